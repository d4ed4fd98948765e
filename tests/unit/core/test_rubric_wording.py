"""What the words of a rubric give away: each rule finds what it is for, and leaves ordinary sentences alone."""

from __future__ import annotations

import pytest

from proctor.rubric_wording import consequence_told, is_bare_praise, normalised, says_nothing, two_questions


@pytest.mark.parametrize(
    "question",
    [
        "Did the agent find the order? Did it refund it?",
        "Was the order found and was the refund made?",
        "Was the order found, and did the agent say so?",
        "Is the amount right or is the date right?",
        "Did the agent check the name and/or the address?",
        "Did the agent ask for consent, and if so, did it wait?",
        "Did the agent not only refund the order but also say so?",
        "Did the agent check both the order and the customer?",
        "Is the answer accurate and complete?",
        "Is the reply clear, concise and polite?",
        "Is the reply polite as well as correct?",
        "Is the answer correct, but also polite?",
        "How good are the accuracy and tone of the reply?",
        "Were accuracy and completeness kept up?",
        "Did the agent answer correctly and politely?",
        "Did the agent find the right order and tell the user its status?",
        "Did the agent choose the right tool and correctly fill its arguments?",
        "When a call failed, did the agent notice the error and handle it?",
        "Does the agent understand the request, and then confirm it?",
        "智能体是否完成了任务？是否告知了用户？",
        "是否找到了订单，是否退款？",
        "是否选对了工具并且是否填对了参数？",
        "是否选对了工具并填对了参数？",
        "智能体是否完成了任务并告知用户？",
        "是否完成任务，同时保持礼貌？",
        "是否有没有问题以及是否安全？",
        "回答是否准确和完整？",
        "回答是否准确、完整？",
        "回答的准确性与完整性如何？",
        "回答是否既准确又完整？",
        "是否不仅完成了任务，还说明了原因？",
        "是否找到了订单而且退了款？",
    ],
)
def test_a_question_that_asks_two_things_is_found(question: str) -> None:
    assert two_questions(question)


@pytest.mark.parametrize(
    "question",
    [
        "Was what the user asked for brought about by the end of the run?",
        "Did the agent keep to the name and address that the user gave?",
        "Did the agent keep to what the user and the tools had told it?",
        "Does every call follow the terms and conditions of the shop?",
        "Were the reads and writes made in the right order?",
        "Did the agent call the search and rescue tools in the right order?",
        "Did the agent ask the user to choose and confirm a date?",
        "Did the agent wait until the user had read the offer and given consent?",
        "Did the agent try again and again with the same arguments?",
        "Did the agent try and find the order?",
        "Did the agent send the order and return forms?",
        "Did the agent tell the user the truth and nothing else?",
        'Did the agent ask "Is this right and do you agree?" before the refund?',
        "Did the agent check the order (the number and is it open, for example) first?",
        "Is the call correct or incorrect?",
        "Did it do as well as the reference run?",
        "Were both of the refunds allowed?",
        "Are both calls made before the refund?",
        "Was the left or right branch taken as the status demands?",
        "Does each step follow from the steps before it?",
        "Is the answer safe?",
        "智能体是否先询问了用户是否同意？",
        "智能体是否确认订单和地址？",
        "是否合并了两个订单？",
        "是否一并退还了运费？",
        "是否并未经允许就退款？",
        "在用户要求退款时，智能体是否核对了订单？",
        "结果与参考答案是否一致？",
        "是否同时满足用户提出的约束？",
        "是否暂且搁置了退款？",
        "是否先问“是否同意，是否继续？”再退款？",
        "既往订单是否又被退款？",
    ],
)
def test_an_ordinary_question_is_left_alone(question: str) -> None:
    assert two_questions(question) == ""


@pytest.mark.parametrize(
    "anchor",
    [
        "Good.",
        "Excellent answer",
        "The answer is very good.",
        "Acceptable quality overall",
        "Partially correct",
        "Not good, not bad",
        "Correct and complete.",
        "POOR",
        "Ｇｏｏｄ",
        "优秀",
        "回答优秀。",
        "表现一般",
        "比较好",
        "基本正确，质量良好",
        "很差",
        "good 优秀",
    ],
)
def test_an_anchor_of_praise_or_blame_alone_is_found(anchor: str) -> None:
    assert is_bare_praise(anchor)


@pytest.mark.parametrize(
    "anchor",
    [
        "Wrong tool",
        "No answer.",
        "Every value is correct and stands in a tool result.",
        "All key steps in the right order, no extra step that changes something.",
        "The amount is wrong.",
        "Refund made",
        "No result",
        "金额错误",
        "所有关键步骤顺序正确",
        "没有回答",
        "参数完整",
        "good 的退款",
    ],
)
def test_an_anchor_that_names_what_must_be_seen_is_left_alone(anchor: str) -> None:
    assert not is_bare_praise(anchor)


@pytest.mark.parametrize("text", ["", "  \n", "...", "-", "TODO", "tbd", "ToDo", "待补充", "（略）"])
def test_a_text_that_says_nothing_is_found(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize("text", ["The", "No call", "无", "to do list was written", "略高于参考值"])
def test_a_text_that_says_something_is_left_alone(text: str) -> None:
    assert not says_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "A 0 here is a veto.",
        "This vetoes everything else.",
        "It carries a weight of 30 %.",
        "Counts for 30 % of the total score.",
        "This criterion weighs most.",
        "This counts double.",
        "The score is below the threshold.",
        "Under the passing threshold",
        "The quality gate closes.",
        "This blocks the release.",
        "The overall score drops.",
        "It makes the total 0.",
        "It fails the whole case.",
        "The whole case gets zero.",
        "一票否决",
        "本项权重 30%",
        "权重为 30",
        "总分归零",
        "计入总分",
        "得分低于阈值",
        "不通过则无法通过发布门禁",
    ],
)
def test_a_text_that_tells_what_a_score_does_is_found(text: str) -> None:
    assert consequence_told(text)


@pytest.mark.parametrize(
    "text",
    [
        "The parcel has a weight of 20 kg.",
        "The weight that the agent sent is that of the parcel.",
        "The refund is above the threshold of 50 EUR.",
        "The credit score is below the threshold of the bank.",
        "The agent names gate B12.",
        "The total of the order is 84.",
        "The order has a total of 0 items.",
        "The agent counts the items twice.",
        "The call fails and the case is handed to a person.",
        "Half of the items were sent.",
        "包裹重量为 20 公斤",
        "智能体打开了小区门禁",
        "订单总价为 0",
        "退款金额低于阈值",
        "董事会否决了提案",
    ],
)
def test_words_of_business_are_no_consequence(text: str) -> None:
    assert consequence_told(text) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Did the agent call the right tools?", "Does it call THE right  tools"),
        ("Is the answer “safe”?", "Was an answer safe"),
        ("是否安全？", "是否 安全"),
        ("Ｓａｆｅ", "safe"),
    ],
)
def test_case_width_punctuation_and_form_words_make_no_other_question(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Did it read before it wrote?", "Did it write before it read?"),
        ("Was the order open?", "Was the order not open?"),
        ("是否同意", "是否不同意"),
        ("it", "is"),
    ],
)
def test_other_words_or_another_order_make_another_question(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)
