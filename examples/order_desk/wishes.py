"""What a customer wants, by the words of one message."""

from __future__ import annotations

import re

AMOUNT = re.compile(r"多少|金额|单号|how much|\bamount\b|refund (?:number|id|status)|confirm .*refund", re.IGNORECASE)
REFUND = re.compile(r"退款|退钱|退货|退掉|\brefund|money back|\breturn (?:it|this|the)\b", re.IGNORECASE)
ADDRESS = re.compile(
    r"地址.*[改换错]|[改换].*地址|(?:chang|updat|correct|wrong|new|different).*\baddress"
    r"|\baddress.*(?:chang|updat|correct|wrong)",
    re.IGNORECASE | re.DOTALL,
)
LOGISTICS = re.compile(
    r"物流|快递|包裹|到哪|发货|什么时候[能会]?(?:到|送)"
    r"|\bwhere(?:'s| is| are)\b|\btrack|\barrive\b|\bshipped yet\b|delivery (?:status|date)",
    re.IGNORECASE,
)
NEW_ADDRESS = (
    re.compile(r"(?:改成|改为|改到|换成|换到|送到|寄到)[\s:：]*([^。！!；;\n]+)"),
    re.compile(r"\baddress\b[^\n]*?(?:\bto\b|:)[\s:]*([^\n]+)", re.IGNORECASE),
    re.compile(r"\b(?:deliver|send|ship)\b[^\n]*?\bto\b[\s:]*(\d[^\n]+)", re.IGNORECASE),
)
POLICY = re.compile(r"政策|规定|无理由|保修|\bpolic(?:y|ies)\b|\bwarranty\b", re.IGNORECASE)
REPLACE = re.compile(r"换货|补发|重发|换一个|\breplace(?:ment)?\b|\bsend (?:me )?(?:another|a new)\b", re.IGNORECASE)
NOTIFY = re.compile(r"短信|邮件|邮箱|通知|\bnotif|\b(?:text|e-?mail) me\b|\bby (?:text|sms|e-?mail)\b", re.IGNORECASE)
TOPICS = {
    "offers": re.compile(r"优惠|促销|广告|\boffers?\b|\bpromo|\bdeals?\b|\bmarketing\b", re.IGNORECASE),
    "parcels": re.compile(r"物流|快递|包裹|发货|\bparcels?\b|\bdeliver|\bshipp|\border", re.IGNORECASE),
}
WAYS = {
    "none": re.compile(r"不要|别再|停|关掉|\bstop\b|\bno more\b|\bturn off\b|\bdon't\b", re.IGNORECASE),
    "sms": re.compile(r"短信|\bsms\b|\btexts?\b", re.IGNORECASE),
    "email": re.compile(r"邮件|邮箱|\be-?mails?\b", re.IGNORECASE),
}
COURTESY = re.compile(r"[，,\s]*(?:谢谢|可以吗|thanks|thank you|please)?[.!?？，,\s]*$", re.IGNORECASE)


def read_wishes(request: str) -> tuple[str, ...]:
    """What the user wants, in the order of doing. To ask what a refund pays is not to ask for it."""
    if POLICY.search(request):
        return ("policy",)
    if NOTIFY.search(request):
        return ("notify",)
    if REPLACE.search(request):
        return ("replace",)
    wishes = []
    if ADDRESS.search(request):
        wishes.append("address")
    if AMOUNT.search(request):
        wishes.append("amount")
    elif REFUND.search(request):
        wishes.append("refund")
    if LOGISTICS.search(request):
        wishes.append("logistics")
    if not wishes and re.search(r"订单|\borders?\b", request, re.IGNORECASE):
        wishes.append("order")
    return tuple(wishes)


def new_address(request: str) -> str | None:
    """The address that the user wants an order sent to."""
    for pattern in NEW_ADDRESS:
        found = pattern.search(request)
        if found:
            return COURTESY.sub("", found[1])
    return None


def notification(request: str) -> tuple[str | None, str | None]:
    """The topic and the way that the user names; None for what they leave open."""
    return _first(TOPICS, request), _first(WAYS, request)


def _first(patterns: dict[str, re.Pattern[str]], request: str) -> str | None:
    return next((name for name, pattern in patterns.items() if pattern.search(request)), None)
