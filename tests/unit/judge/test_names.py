"""Which words are names of models and vendors, in which disguises, and which words only look like them."""

from __future__ import annotations

import pytest

from proctor.judge.names import Names

MODELS = {
    "As Claude, I cannot do that": "As [the assistant], I cannot do that",
    "I'm ChatGPT": "I'm [the assistant]",
    "I am Gemini.": "I am [the assistant].",
    "Hi, Copilot here": "Hi, [the assistant] here",
    "我是通义千问，请问": "我是[the assistant]，请问",
    "作为豆包，我": "作为[the assistant]，我",
    "gpt-4o-2024-08-06": "[model 1]",
    "GPT 4 said so": "[model 1] said so",
    "AutoGPT": "Auto[model 1]",
    "Gemini 1.5 Pro": "[model 1]",
    "claude-3-5-sonnet-20241022": "[model 1]",
    "Llama 3.1 70B": "[model 1]",
    "meta-llama/Llama-3-70b-instruct": "[model 1]",
    "phi-3-mini": "[model 1]",
    '"model": "phi"': '"model": "[the assistant]"',
    "Opus 4.1": "[model 1]",
    "mistral-7b-instruct": "[model 1]",
    "the Mistral model": "the [model 1] model",
    "o3-mini": "[model 1]",
    "Qwen2.5-72B": "[model 1]",
    "deepseek-chat": "[model 1]",
    "text-davinci-003": "[model 1]",
    "command-r-plus": "[model 1]",
    "gpt-4 beside gpt-4 beside gpt-4o": "[model 1] beside [model 1] beside [model 2]",
}
VENDORS = {
    "developed by OpenAI": "developed by [vendor 1]",
    "made by Anthropic": "made by [vendor 1]",
    "I was made by Google.": "I was made by [vendor 1].",
    "a language model trained by Google": "a language model trained by [vendor 1]",
    "I am an AI assistant developed by Meta": "I am an AI assistant developed by [vendor 1]",
    "Google's language model": "[vendor 1]'s language model",
    "Meta AI": "[vendor 1]",
    "OPENAI_API_KEY": "[vendor 1]_API_KEY",
    "https://api.openai.com/v1": "https://api.[vendor 1].com/v1",
    "anthropic.claude-3-opus-20240229-v1:0": "[vendor 1].[model 1]",
}
DISGUISED = {
    "zero-width": "As Cl\u200baude, I",
    "full-width": "As Ｃｌａｕｄｅ, I",
    "homoglyph": "As Сlаude, I",
    "spaced": "As C l a u d e, I",
    "base64": "As Q2xhdWRlIGlzIGhlcmUgdG9kYXk=, I",
    "JSON escape": "As \\u0043laude, I",
    "percent": "As %43laude, I",
    "after an escaped line break": "As\\nClaude, I",
    "bidi": "As Cla\u202eude, I",
    "upper case": "As CLAUDE, I",
}
ORDINARY = (
    "My zodiac sign is Gemini",
    "I'm a Gemini, born in June",
    "Gemini and Taurus are compatible",
    "the mistral wind blew over Provence",
    "a llama farm with 3 llamas",
    "Llama wool sweater",
    "the phi coefficient, denoted as phi",
    "a meta-analysis of metadata and Meta tags",
    "his magnum opus, Beethoven's Opus 18, and Opus Dei",
    "Shakespeare's sonnet 18 and a haiku about autumn",
    "thermostats for Google Home, Apple HomeKit or Amazon Alexa, such as Google Nest",
    "philanthropic work and the anthropic principle",
    "Egypt; coherent; cohere together",
    "solar panels based on solar power",
    "Jean-Claude Dupont",
    "the Falcon 9 rocket; Nova Scotia; a titan of industry; Ernie Banks; palm trees",
    "the GPT partition table",
    "the copilot's seat; I grok this; run the command",
    "Model: Apple iPhone 15",
)


@pytest.mark.parametrize(("text", "blinded"), (MODELS | VENDORS).items())
def test_a_name_is_replaced_and_the_same_one_always_by_the_same_words(text: str, blinded: str) -> None:
    assert Names([text]).blinded(text) == blinded


@pytest.mark.parametrize("text", DISGUISED.values(), ids=DISGUISED)
def test_a_name_is_found_however_it_is_disguised(text: str) -> None:
    blinded = Names([text]).blinded(text)
    assert blinded.startswith("As")
    assert blinded.endswith("[the assistant], I")


@pytest.mark.parametrize("text", ORDINARY)
def test_words_that_only_look_like_names_stay(text: str) -> None:
    assert Names([text]).blinded(text) == text


@pytest.mark.parametrize("text", [*MODELS, *VENDORS, *DISGUISED.values()])
def test_a_blinded_text_stays_as_it_is(text: str) -> None:
    once = Names([text]).blinded(text)
    assert Names([once]).blinded(once) == once
