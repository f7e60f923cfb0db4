"""The LLM, if one is configured."""

from botforge.ports.chat import ChatModel
from botforge.settings import ChatSettings
from botforge.wiring.secret import reveal


def chat_model(settings: ChatSettings) -> ChatModel | None:
    if not settings.chat_configured:
        return None
    from botforge.adapters.llm.openai import OpenAIChatModel

    key = reveal(settings.openai_api_key, settings.openai_secret_arn)
    assert key is not None, "chat_configured says so"  # noqa: S101
    return OpenAIChatModel(api_key=key, base_url=settings.openai_base_url, model=settings.openai_model)
