"""What has to be done now and then, whoever is asking: nothing stays stuck, nothing deleted stays around."""

from dataclasses import dataclass
from datetime import timedelta

from botforge.domain.errors import Unavailable
from botforge.ports.objects import ObjectStore
from botforge.ports.repositories import Maintenance
from botforge.ports.vectors import VectorIndex

_BOTS_A_RUN = 20


@dataclass(frozen=True, slots=True)
class MonitoringResult:
    claims_expired: int
    uploads_expired: int
    conversations_expired: int
    executions_expired: int
    bots_purged: int
    purges_failed: int  # tried again in the next run
    common_lexemes: int


@dataclass(frozen=True, slots=True)
class MonitoringService:
    maintenance: Maintenance
    objects: ObjectStore
    vectors: VectorIndex
    claim_age: timedelta = timedelta(hours=6)  # past every redelivery: 5 receives, an hour's visibility each
    upload_age: timedelta = timedelta(hours=2)  # past a presigned form's hour
    conversation_age: timedelta = timedelta(days=30)  # since the last message
    execution_age: timedelta = timedelta(minutes=5)  # past the 29 s that any request may take

    def run(self) -> MonitoringResult:
        """One round. Two that overlap do the same work twice and no harm."""
        claims = self.maintenance.expire_claims(older_than=self.claim_age)
        uploads = self.maintenance.expire_uploads(older_than=self.upload_age)
        conversations = self.maintenance.expire_conversations(older_than=self.conversation_age)
        executions = self.maintenance.expire_executions(older_than=self.execution_age)
        purged, failed = self._purge()
        return MonitoringResult(
            claims_expired=claims,
            uploads_expired=uploads,
            conversations_expired=conversations,
            executions_expired=executions,
            bots_purged=purged,
            purges_failed=failed,
            common_lexemes=self.maintenance.refresh_statistics(),
        )

    def _purge(self) -> tuple[int, int]:
        """Objects first, then vectors, rows last: as long as anything is left, the row says so."""
        purged = failed = 0
        for bot in self.maintenance.deleted_bots(limit=_BOTS_A_RUN):
            try:
                self.objects.delete_namespace(bot.user_id, bot.bot_id)
                self.vectors.delete_namespace(bot.user_id, bot.bot_id)
            except Unavailable:
                failed += 1
                continue
            self.maintenance.purge_bot(bot.user_id, bot.bot_id)
            purged += 1
        return purged, failed
