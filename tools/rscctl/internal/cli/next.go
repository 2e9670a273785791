package cli

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// runbook is where repairs are described step by step.
const runbook = "docs/operations-runbook.md"

// nextStep says what to do about a refusal.
func nextStep(code protocol.Code, at place) string {
	if code == protocol.CodeNotFound && at.member != "" {
		return fmt.Sprintf("list the members with: rscctl members %s %s", at.stream, at.group)
	}
	if at.monitor && (code == protocol.CodeNotFound || code == protocol.CodeUpstreamUnavailable || code == protocol.CodeUpstreamFailed) {
		return "the monitor answers this, through a gateway that knows it: name the gateway with --coordinator or" +
			" $RSC_COORDINATOR, and start it with --gateway-monitor"
	}
	switch code {
	case protocol.CodeStreamAlreadyExists:
		return fmt.Sprintf("look at it with: rscctl streams describe %s", at.stream)
	case protocol.CodeGroupAlreadyExists:
		return fmt.Sprintf("look at it with: rscctl groups describe %s %s", at.stream, at.group)
	case protocol.CodeStreamNotFound:
		return "list the streams with: rscctl streams list"
	case protocol.CodeGroupNotFound:
		return "list the groups with: rscctl groups list"
	case protocol.CodeGroupHasActiveMembers:
		if at.pruned {
			return "stop the members first (rscctl members shows them), or leave it out of the pruning"
		}
		return "stop the members first (rscctl members shows them), or add --force: they lose their shards at once"
	case protocol.CodeActiveMigrationExists:
		return fmt.Sprintf("follow the one under way with: rscctl migrations watch %s", at.stream)
	case protocol.CodeMetadataSyncInProgress:
		return "a correction round is under way and ends by itself; try again in some seconds"
	case protocol.CodeMigrationNotFound:
		return fmt.Sprintf("list the reshardings with: rscctl migrations list %s", at.stream)
	case protocol.CodeRollbackNotAllowed:
		return fmt.Sprintf("it is over; to get the old count back: rscctl streams scale %s N", at.stream)
	case protocol.CodeDrainNotConfirmable:
		return fmt.Sprintf("see what keeps each shard with: rscctl migrations show %s", at.stream)
	case protocol.CodeShardCountMismatch:
		return "the stream has another count; leave the count out, or scale the stream"
	case protocol.CodeUnauthorized, protocol.CodeForbidden:
		return "log in as somebody who may do that, with: rscctl login --user NAME"
	case protocol.CodeAuditUnavailable:
		return "changes are refused while they cannot be audited; the gateway's log says what is wrong with audit.sink"
	case protocol.CodeUpstreamUnavailable, protocol.CodeUpstreamFailed:
		return "the gateway reaches no coordinator that answers; check that one runs, and what the gateway's log says"
	case protocol.CodeStateVersionConflict, protocol.CodeStateMutexUnavailable, protocol.CodeTerminating,
		protocol.CodeRateLimitExceeded, protocol.CodeOverloaded, protocol.CodeIdempotencyKeyInUse:
		return "try again in some seconds"
	case protocol.CodeStoreUnavailable, protocol.CodeProvisioningFailed, protocol.CodeRedisNotConfigured:
		return "see what is wrong with: rscctl health; then check Redis and the coordinator's log"
	case protocol.CodeMetadataMissing, protocol.CodeMetadataCorrupt:
		return "nothing is rebuilt by itself; follow " + runbook
	case protocol.CodeNotFound, protocol.CodeMethodNotAllowed:
		return "the coordinator does not know this call: check --coordinator, and its build with: rscctl version"
	case protocol.CodeInvalidRequest, protocol.CodePayloadTooLarge, protocol.CodeUnsupportedMediaType,
		protocol.CodeIdempotencyKeyReused:
		return "correct what the message names; --help behind the command says what it takes"
	case protocol.CodeInternal:
	}
	return "look for the request id in the coordinator's log"
}
