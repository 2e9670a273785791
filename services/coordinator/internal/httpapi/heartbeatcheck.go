package httpapi

import (
	"math"
	"strings"
	"unicode"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Longest texts of a heartbeat, in bytes.
const (
	maxRequestID  = 128
	maxMemberName = 250
	maxNonce      = 64
)

// maxNumber bounds counts, indexes and durations: the contract's int32.
const maxNumber = math.MaxInt32

// checkHeartbeat refuses what no state can make right (protocol R5, wire contract).
// A protocol version that is not spoken here passes: the core answers it with a status.
func checkHeartbeat(req *protocol.HeartbeatRequest, maxShards int) error {
	switch {
	case req.ProtocolVersion < 1 || req.ProtocolVersion > maxNumber:
		return invalid("protocolVersion must be at least 1")
	case strings.TrimSpace(req.RequestID) == "" || len(req.RequestID) > maxRequestID || hasControl(req.RequestID):
		return invalid("requestId must have 1 to %d bytes, not only blanks and no control characters", maxRequestID)
	case req.MemberEpoch < protocol.EpochSuspend:
		return invalid("memberEpoch must be at least %d", protocol.EpochSuspend)
	case req.MetadataVersion < 0:
		return invalid("metadataVersion must not be negative")
	case req.MemberName != nil && (len(*req.MemberName) > maxMemberName || hasControl(*req.MemberName)):
		return invalid("memberName must have at most %d bytes and no control characters", maxMemberName)
	case req.WaitMs < 0 || req.WaitMs > maxNumber:
		return invalid("waitMs must be between 0 and %d", maxNumber)
	}
	if err := checkIdentity(req); err != nil {
		return err
	}
	if err := checkCapacity(req.RuntimeConsumerCapacity); err != nil {
		return err
	}
	return checkReport(req, maxShards)
}

// checkIdentity looks at the additions of this suite by which requests are told apart
// (protocol E4, E5, M1).
func checkIdentity(req *protocol.HeartbeatRequest) error {
	if err := checkNonce("incarnation", req.Incarnation); err != nil {
		return err
	}
	if err := checkNonce("lineage", req.Lineage); err != nil {
		return err
	}
	switch {
	case req.Sequence < 0:
		return invalid("sequence must not be negative")
	case req.Incarnation != "" && req.Sequence == 0:
		return invalid("an incarnation numbers its requests: sequence must be at least 1")
	}
	return nil
}

// checkNonce takes "" as absent.
func checkNonce(field, nonce string) error {
	if nonce != "" && (len(nonce) > maxNonce || protocol.CheckMemberID(nonce) != nil) {
		return invalid("%s %q must have at most %d letters, digits and ._:@+-, a letter or digit first",
			field, protocol.Echo(nonce), maxNonce)
	}
	return nil
}

func checkCapacity(capacity protocol.Capacity) error {
	highest, free := capacity.RuntimeMaxConcurrency, capacity.AvailableConcurrency
	switch {
	case highest < 1 || highest > maxNumber:
		return invalid("runtimeMaxConcurrency must be between 1 and %d", maxNumber)
	case free < 0 || free > highest:
		return invalid("availableConcurrency must be between 0 and runtimeMaxConcurrency")
	}
	return nil
}

// hasControl reports characters that a log or a screen would act on: controls, line and
// paragraph separators, and marks that turn the direction of writing.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	})
}
