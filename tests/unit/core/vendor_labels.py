"""200 names of models and who made them, labelled by hand from what their makers say, not from the code's tables."""

from __future__ import annotations

_TABLE = """
gpt-4o-2024-08-06                                             openai
gpt-4.1-mini                                                  openai
gpt-5                                                         openai
gpt-3.5-turbo-16k                                             openai
gpt4o                                                         openai
chatgpt-4o-latest                                             openai
o1                                                            openai
o3-mini                                                       openai
o4-mini-2025-04-16                                            openai
text-davinci-003                                              openai
openai/gpt-oss-120b                                           openai
groq/openai/gpt-oss-20b                                       openai
ollama/gpt-oss:20b                                            openai
ft:gpt-4o-mini-2024-07-18:acme::AbC123                        openai
azure/gpt-4o                                                  openai
azure/eu/o3-mini-2025-01-31                                   openai
openrouter/openai/gpt-4-turbo                                 openai
litellm_proxy/gpt-4o                                          openai
github_copilot/gpt-4.1                                        openai
OpenAI                                                        openai
claude-3-5-sonnet-20241022                                    anthropic
claude-opus-4-1                                               anthropic
claude-instant-1.2                                            anthropic
anthropic/claude-3-haiku                                      anthropic
anthropic.claude-v2:1                                         anthropic
bedrock/us.anthropic.claude-sonnet-4-20250514-v1:0            anthropic
bedrock/converse/anthropic.claude-3-haiku-20240307-v1:0       anthropic
arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-3-5-sonnet-20240620-v1:0   anthropic
vertex_ai/claude-3-5-haiku@20241022                           anthropic
amazon-bedrock/anthropic.claude-3-opus                        anthropic
openrouter/anthropic/claude-3.7-sonnet:thinking               anthropic
databricks/databricks-claude-sonnet-4                         anthropic
gemini-1.5-pro-002                                            google
gemini/gemini-2.5-flash                                       google
vertex_ai/gemini-2.0-flash-001                                google
models/gemini-1.5-flash                                       google
gemma-2-9b-it                                                 google
google/gemma-3-27b-it                                         google
ollama/gemma2:2b                                              google
codegemma-7b                                                  google
medlm-large                                                   google
chat-bison@002                                                google
palm/chat-bison-001                                           google
google/palm-2-chat-bison                                      google
google/flan-t5-xxl                                            google
meta-llama/Llama-3.3-70B-Instruct                             meta
llama3                                                        meta
ollama/llama3.1:8b                                            meta
codellama/CodeLlama-34b-Instruct-hf                           meta
bedrock/meta.llama3-1-405b-instruct-v1:0                      meta
together_ai/meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo       meta
fireworks_ai/accounts/fireworks/models/llama-v3p1-70b-instruct meta
groq/llama-3.1-8b-instant                                     meta
deepinfra/meta-llama/Llama-4-Scout-17B-16E-Instruct           meta
replicate/meta/llama-2-70b-chat                               meta
@cf/meta/llama-2-7b-chat-int8                                 meta
TheBloke/Llama-2-13B-GGUF                                     meta
huggingface/meta-llama/Llama-Guard-3-8B                       meta
sambanova/Meta-Llama-3.2-1B-Instruct                          meta
mistral-large-latest                                          mistral
mistral/codestral-latest                                      mistral
open-mixtral-8x22b                                            mistral
mistralai/Mistral-7B-Instruct-v0.3                            mistral
ministral-8b-latest                                           mistral
pixtral-12b-2409                                              mistral
devstral-small-2505                                           mistral
magistral-medium-2506                                         mistral
mistral.mixtral-8x7b-instruct-v0:1                            mistral
azure_ai/mistral-nemo                                         mistral
qwen2.5-72b-instruct                                          alibaba
Qwen/Qwen3-235B-A22B                                          alibaba
dashscope/qwen-max                                            alibaba
qwq-32b                                                       alibaba
qvq-72b-preview                                               alibaba
cerebras/qwen-3-32b                                           alibaba
AIDC-AI/Marco-o1                                              alibaba
deepseek-chat                                                 deepseek
deepseek/deepseek-reasoner                                    deepseek
deepseek-ai/DeepSeek-V3                                       deepseek
fireworks_ai/accounts/fireworks/models/deepseek-r1            deepseek
bedrock/us.deepseek.r1-v1:0                                   deepseek
deepseek-r1-distill-llama-70b                                 deepseek meta
groq/deepseek-r1-distill-qwen-32b                             deepseek alibaba
phi-4                                                         microsoft
microsoft/Phi-3-mini-4k-instruct                              microsoft
azure_ai/Phi-3.5-vision-instruct                              microsoft
phi3:mini                                                     microsoft
microsoft/WizardLM-2-8x22B                                    microsoft mistral
command-r-plus                                                cohere
cohere_chat/command-a-03-2025                                 cohere
cohere.command-r-v1:0                                         cohere
CohereForAI/aya-23-35B                                        cohere
jamba-1.5-large                                               ai21
ai21.j2-ultra-v1                                              ai21
bedrock/ai21.jamba-instruct-v1:0                              ai21
amazon.nova-pro-v1:0                                          amazon
bedrock/us.amazon.nova-lite-v1:0                              amazon
amazon.titan-text-express-v1                                  amazon
openrouter/amazon/nova-micro-v1                               amazon
grok-2-latest                                                 xai
xai/grok-3-mini                                               xai
x-ai/grok-4                                                   xai
glm-4-plus                                                    zhipu
THUDM/chatglm3-6b                                             zhipu
zai/glm-4.5-air                                               zhipu
moonshotai/Kimi-K2-Instruct                                   moonshot
moonshot-v1-128k                                              moonshot
MiniMax-M1                                                    minimax
minimax/abab6.5s-chat                                         minimax
01-ai/Yi-1.5-34B-Chat                                         01ai
yi-large                                                      01ai
ernie-4.0-turbo-8k                                            baidu
tencent/Hunyuan-A13B-Instruct                                 tencent
doubao-1-5-pro-32k-250115                                     bytedance
bytedance-seed/seed-oss-36b-instruct                          bytedance
nvidia/llama-3.1-nemotron-70b-instruct                        nvidia meta
nvidia_nim/meta/llama3-70b-instruct                           meta
nemotron-4-340b-instruct                                      nvidia
ibm/granite-3-8b-instruct                                     ibm
watsonx/ibm/granite-13b-chat-v2                               ibm
watsonx/mistralai/mistral-large                               mistral
databricks/dbrx-instruct                                      databricks
snowflake/snowflake-arctic                                    snowflake
snowflake/llama3.1-70b                                        meta
palmyra-x5                                                    writer
bedrock/us.writer.palmyra-x4-v1:0                             writer
writer/palmyra-med-70b                                        writer
gpt4all                                                       nomic
gpt4all-13b-snoozy                                            nomic meta
nomic-ai/gpt4all-j                                            nomic eleutherai
EleutherAI/gpt-neox-20b                                       eleutherai
EleutherAI/gpt-j-6B                                           eleutherai
gpt-neo-2.7B                                                  eleutherai
cerebras/Cerebras-GPT-13B                                     cerebras
microsoft/DialoGPT-large                                      microsoft openai
nous-hermes-llama2-13b                                        nous meta
NousResearch/Hermes-3-Llama-3.1-405B                          nous meta
NousResearch/Nous-Hermes-2-Mixtral-8x7B-DPO                   nous mistral
teknium/OpenHermes-2.5-Mistral-7B                             nous mistral
HuggingFaceH4/zephyr-7b-beta                                  huggingface mistral
lmsys/vicuna-13b-v1.5                                         lmsys meta
ollama/dolphin-mixtral:8x7b                                   cognitivecomputations mistral
phind/Phind-CodeLlama-34B-v2                                  phind meta
perplexity/sonar-pro                                          perplexity meta
tiiuae/falcon-40b-instruct                                    tii
allenai/OLMo-2-1124-13B-Instruct                              allenai
stand-in/obedient                                             stand-in
azure/prod-judge                                              -
openai/my-model                                               -
openrouter/auto                                               -
dolphin-2.9                                                   -
gpt-35-turbo                                                  openai
gpt-4-32k                                                     openai
gpt4-x-alpaca-13b                                             openai stanford
GPT-JT-6B-v1                                                  together eleutherai
togethercomputer/GPT-NeoXT-Chat-Base-20B                      together eleutherai
gpt2-xl                                                       openai
gpt-image-1                                                   openai
codex-mini-latest                                             openai
sonnet-3.5                                                    anthropic
claude-3-5-sonnet-v2@20241022                                 anthropic
WizardLM-13B-V1.2                                             microsoft meta
WizardCoder-15B                                               -
openchat_3.5                                                  openchat mistral
openchat-3.6-8b                                               openchat meta
dolphin3.0-llama3.1-8b                                        cognitivecomputations meta
gemma3n:e4b                                                   google
granite3.1-dense:8b                                           ibm
nous-hermes2-mixtral:8x7b                                     nous mistral
codeqwen1.5                                                   alibaba
deepseek-coder:6.7b                                           deepseek
llava-llama3:8b                                               llava meta
baichuan2-13b                                                 baichuan
dolly-v2-12b                                                  databricks eleutherai
mosaicml/mpt-30b-chat                                         databricks
google/pegasus-xsum                                           google
twelvelabs.pegasus-1-2-v1:0                                   twelvelabs
sonar-reasoning                                               perplexity deepseek
deephermes-3-mistral-24b-preview                              nous mistral
hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M             meta
text-completion-openai/davinci-002                            openai
o1-preview                                                    openai
openai/o1-mini                                                openai
marco-o1:7b                                                   alibaba
openrouter/quasar-alpha                                       -
vertex_ai/endpoints/123456789                                 -
yi-lightning                                                  01ai
step-2-16k                                                    stepfun
mistral-7b-openorca                                           mistral
stable-beluga-70b                                             stability meta
opt-66b                                                       meta
facebook/opt-30b                                              meta
luminous-supreme                                              alephalpha
exaone3.5:7.8b                                                lg
falcon-180b-chat                                              tii
us.meta.llama3-3-70b-instruct-v1:0                            meta
eu.mistral.pixtral-large-2502-v1:0                            mistral
solar-pro                                                     upstage
kimi-k2-0905-preview                                          moonshot
qwen3-coder:480b-cloud                                        alibaba
accounts/fireworks/models/mixtral-8x22b-instruct              mistral
nvidia/nemotron-nano-9b-v2:free                               nvidia
x-ai/grok-code-fast-1                                         xai
z-ai/glm-4.6                                                  zhipu
chatglm2-6b                                                   zhipu
bigcode/starcoder2-15b                                        bigcode
"""


def labels() -> tuple[tuple[str, frozenset[str]], ...]:
    """Each name with its families; `-` is unknown."""
    rows = [line.split() for line in _TABLE.strip().splitlines()]
    return tuple((name, frozenset(made_by) - {"-"}) for name, *made_by in rows)
