"""Who makes which models: the data behind `vendors`. All names are lower-case; nothing here is matched by likeness.

A line of models is a token (`claude`), or tokens in a row (`gpt-neo`), of a name cut at everything that is no letter
or digit; digits at a token's end are a version (`llama3` is `llama`). `^o1` counts only where a name begins, `gpt#`
only with a version (`gpt4`, `gpt-4o`) or at the end, since others call their models `gpt` and a word.
"""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """A line of models: who makes it, and whose model it was tuned from where its name does not say."""

    maker: str
    base: str = ""
    anchored: bool = False
    versioned: bool = False


SEVERAL = "?"
"""The base of a line that only the whole name can tell."""

_LINES = """
openai       gpt# gpt-oss gpt-audio gpt-realtime gpt-chat gpt-image gpt-rosalind chatgpt codex
openai       ^o1 ^o3 ^o4 davinci babbage text-ada text-curie ^computer-use-preview
anthropic    claude ^sonnet ^opus ^haiku
google       gemini gemma codegemma medgemma shieldgemma paligemma recurrentgemma bison palm palm2 learnlm medlm flan
google       ^t5 ^ul2
meta         llama codellama llamaguard llama-guard ^opt galactica blenderbot ^muse
mistral      mistral mixtral codestral ministral pixtral devstral magistral mathstral voxtral mistralai leanstral saba
alibaba      qwen qwq qvq codeqwen tongyi marco-o1
deepseek     deepseek ^r1
microsoft    phi ^mai
cohere       cohere command ^c4ai aya
ai21         jamba jurassic ^j1 ^j2
amazon       ^nova titan
xai          grok
zhipu        glm chatglm codegeex autoglm
moonshot     kimi moonshot kimik2
minimax      minimax abab
01ai         yi
baidu        ernie cobuddy
tencent      hunyuan ^hy3 ^hy
bytedance    doubao ^seed skylark
nvidia       nemotron
ibm          granite
databricks   dbrx mpt
snowflake    arctic
writer       palmyra
reka         reka
stability    stablelm stablecode stable-code
tii          falcon
eleutherai   gpt-neo gpt-neox gpt-j gpt-j6b gptj gptneo gptneox pythia
cerebras     cerebras-gpt btlm
aisweden     gpt-sw3
nomic        gpt4all
allenai      olmo
liquid       lfm
upstage      ^solar
lg           exaone
naver        hyperclova hyperclovax
sber         gigachat
yandex       yandexgpt
bigscience   bloom bloomz
huggingface  smollm
bigcode      starcoder starcoderbase
inception    ^mercury
xiaomi       mimo
stepfun      ^step stepaudio
internlm     internlm
baichuan     baichuan
tinyllama    tinyllama
openlm       open-llama openllama
openbmb      minicpm
inclusionai  ^ling ^ring ming-flash
meituan      longcat
kuaishou     ^kat kwaipilot
swissai      apertus
sarvam       sarvam
bsc          salamandra alia
g42          jais
arcee        ^trinity
essentialai  rnj
jetbrains    mellum
alephalpha   luminous pharia
inflection   ^inflection
iflytek      ^spark sparkdesk
sensetime    sensechat sensenova
salesforce   xgen codegen
apple        openelm
together     redpajama
thinkingmachines  inkling
"""
"""Each row: the maker, and its lines."""

_TUNED = """
nous         meta       hermes nous-hermes deephermes
nous         mistral    openhermes
microsoft    meta       wizardlm
stability    meta       stable-beluga
microsoft    mistral    wizardlm-2-8x22b wizardlm-2-7b
microsoft    meta       orca
microsoft    deepseek   mai-ds-r1
microsoft    openai     dialogpt
deepseek     alibaba    deepseek-r1-1-5b deepseek-r1-7b deepseek-r1-14b deepseek-r1-32b
deepseek     meta       deepseek-r1-70b
bigscience   google     t0 mt0
allenai      alibaba    olmocr molmo
nvidia       alibaba    cosmos
internlm     alibaba    internvl
baichuan     alibaba    baichuan-m2 baichuan-m3
openbmb      alibaba    minicpm-v minicpm-o
kuaishou     alibaba    kat-dev
sarvam       mistral    sarvam-m
sdaia        meta       allam
huggingface  mistral    zephyr
lmsys        meta       vicuna longchat
lmsys        google     fastchat-t5
stanford     meta       alpaca
berkeley     meta       koala
berkeley     mistral    starling
allenai      meta       tulu
perplexity   meta       sonar pplx
perplexity   deepseek   r1-1776 sonar-reasoning
nomic        meta       gpt4all-13b-snoozy snoozy
nomic        eleutherai gpt4all-j
upstage      mistral    solar-10 solar-10b
llava        meta       llava
llava        mistral    bakllava
databricks   eleutherai dolly
together     eleutherai gpt-jt gpt-neoxt
bytedance    alibaba    ui-tars
openchat     mistral    openchat-3-5 openchat-3p5
openchat     meta       openchat-3-6
gryphe       meta       mythomax mytholite
sao10k       meta       euryale lunaris stheno
intel        mistral    neural-chat
phind        meta       phind
eva          alibaba    eva-qwen
sentient     meta       dobby
openthinker  alibaba    openthinker
fireworks    mistral    firefunction-v1
fireworks    meta       firefunction-v2
fireworks    meta       firellava
featherless  alibaba    qwerky
aisingapore  google     gemma-sea-lion
servicenow   mistral    apriel
"""
"""Each row: who tuned, whose model where the name does not say, and the lines."""

_OF_SEVERAL = """
cognitivecomputations  dolphin
openchat               openchat
deepcogito             cogito
nous                   capybara nous-capybara
microsoft              wizardcoder wizardmath
salesforce             xlam
skywork                skywork
deepseek               deepseek-r1-8b
"""
"""Each row: the maker, and lines tuned from several others' models: known only where the name says from whose."""

_MAKERS = """
openai       openai azureopenai
anthropic    anthropic
google       google googledeepmind deepmind gemini palm googleai googleaistudio
meta         meta metallama metamodels metaai facebook
mistral      mistral mistralai codestral
alibaba      alibaba qwen alibabacloud tongyi aidcai alibabanlp
deepseek     deepseek deepseekai
microsoft    microsoft wizardlm wizardlmteam
cohere       cohere coherechat cohereai cohereforai coherelabs
ai21         ai21 ai21labs ai21chat
amazon       amazon amazonnova
xai          xai
zhipu        zhipu zhipuai zai zaiorg thudm bigmodel
moonshot     moonshot moonshotai
minimax      minimax minimaxai
01ai         01ai
baidu        baidu paddlepaddle
tencent      tencent
bytedance    bytedance bytedanceseed
nvidia       nvidia
ibm          ibm ibmgranite ibmresearch
databricks   mosaicml
writer       writer
nous         nous nousresearch teknium
reka         reka rekaai
stability    stability stabilityai
tii          tii tiiuae
eleutherai   eleuther eleutherai
nomic        nomic nomicai
allenai      allenai ai2
liquid       liquid liquidai
upstage      upstage
lg           lgai lgaiexaone
sber         sber gigachat aisage
bigscience   bigscience
huggingface  huggingfaceh4 huggingfacetb
inception    inception inceptionlabs
xiaomi       xiaomi xiaomimimo
stepfun      stepfun stepfunai
internlm     internlm opengvlab
baichuan     baichuan baichuaninc
lmsys        lmsys
phind        phind
sao10k       sao10k
gryphe       gryphe
cognitivecomputations  cognitivecomputations
openchat     openchat
inclusionai  inclusionai
meituan      meituan
kuaishou     kwaipilot kuaishou
swissai      swissai
sarvam       sarvam sarvamai
arcee        arceeai
essentialai  essentialai
jetbrains    jetbrains
twelvelabs   twelvelabs
alephalpha   alephalpha
iflytek      iflytek
sensetime    sensetime
salesforce   salesforce
apple        apple
bigcode      bigcode
thinkingmachines  thinkingmachines
stand-in     standin
"""
"""Each row: the maker, and what it is called where a whole part of a name is an owner; only letters and digits."""

BARE = {"databricks": "databricks", "snowflake": "snowflake", "perplexity": "perplexity", "cerebras": "cerebras"}
"""Makers whose names are those of gateways too: they count only where nothing else stands."""

ROUTES = frozenset({"openai", "mistral", "tencent"})
"""Makers whose name at the front is also how other makers' models are asked for: `openai/` is any endpoint that
speaks its API. There it says nothing; further on it is the owner."""

_GATEWAYS = """
openrouter together togetherai togethercomputer bedrock bedrockconverse bedrockmantle converse invoke amazonbedrock
awsbedrock sagemaker azure azureai azuretext azureaistudio vertexai vertexaibeta vertex googlevertex googlevertexai
publishers models groq fireworks fireworksai accounts deepinfra litellm litellmproxy proxy huggingface hf replicate
ollama ollamachat lmstudio lmstudiocommunity vllm hostedvllm llamafile xinference databricks snowflake watsonx
watsonxtext nvidianim cerebras sambanova perplexity github githubcopilot githubmodels nebius novita novitaai
hyperbolic anyscale baseten cloudflare workersai cf workers vercelaigateway vercel aigateway portkey helicone
dashscope volcengine oci ovhcloud scaleway nscale lambdaai lambda featherlessai friendliai gradientai siliconflow
heroku wandb predibase octoai lepton leptonai aimlapi poe cometapi aihubmix gmi gmicloud kyma empiriolabs publicai
opencode opencodego qwencloud qwenaiplatform streamlake llamagate routers thebloke unsloth bartowski
mradermacher neuralmagic redhatai nlpcloud textcompletionopenai customopenai openailike morph ft
"""


def _rows(text: str) -> list[list[str]]:
    return [row.split() for row in text.strip().splitlines()]


def _lines() -> dict[tuple[str, ...], Line]:
    made = [(maker, "", name) for maker, *names in _rows(_LINES) for name in names]
    made += [(maker, base, name) for maker, base, *names in _rows(_TUNED) for name in names]
    made += [(maker, SEVERAL, name) for maker, *names in _rows(_OF_SEVERAL) for name in names]
    return {
        tuple(name.strip("^#").split("-")): Line(maker, base, name.startswith("^"), name.endswith("#"))
        for maker, base, name in made
    }


LINES = _lines()
"""By tokens."""
MAKERS = {name: maker for maker, *names in _rows(_MAKERS) for name in names}
GATEWAYS = frozenset(name for row in _rows(_GATEWAYS) for name in row)
"""Who passes on other people's models, and who repacks them: it says nothing of the maker."""
LONGEST = max(map(len, LINES))
"""Tokens of the longest line."""
