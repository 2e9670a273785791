package protocol

import (
	"fmt"
	"net/http"
)

// Code names what went wrong. Clients decide by code only (wire contract).
type Code string

// The error codes of the API.
const (
	CodeGroupAlreadyExists     Code = "GROUP_ALREADY_EXISTS"
	CodeStreamAlreadyExists    Code = "STREAM_PREFIX_ALREADY_EXISTS"
	CodeGroupNotFound          Code = "GROUP_NOT_FOUND"
	CodeStreamNotFound         Code = "STREAM_NOT_FOUND"
	CodeGroupHasActiveMembers  Code = "GROUP_HAS_ACTIVE_MEMBERS"
	CodeActiveMigrationExists  Code = "ACTIVE_MIGRATION_EXISTS"
	CodeMetadataSyncInProgress Code = "METADATA_SYNC_IN_PROGRESS"
	CodeMigrationNotFound      Code = "MIGRATION_NOT_FOUND"
	CodeRollbackNotAllowed     Code = "ROLLBACK_NOT_ALLOWED"
	CodeStateVersionConflict   Code = "STATE_VERSION_CONFLICT"
	CodeRedisNotConfigured     Code = "REDIS_NOT_CONFIGURED"
	CodeProvisioningFailed     Code = "REDIS_STREAM_PROVISIONING_FAILED"
	CodeStateMutexUnavailable  Code = "COORDINATOR_STATE_MUTEX_UNAVAILABLE"
	CodeTerminating            Code = "COORDINATOR_TERMINATING"
	CodeRateLimitExceeded      Code = "RATE_LIMIT_EXCEEDED"
	CodeInvalidRequest         Code = "INVALID_REQUEST"
	CodeShardCountMismatch     Code = "SHARD_COUNT_MISMATCH"
	CodeDrainNotConfirmable    Code = "DRAIN_NOT_CONFIRMABLE"
	CodeIdempotencyKeyReused   Code = "IDEMPOTENCY_KEY_REUSED"
	CodeMetadataMissing        Code = "METADATA_MISSING"
	CodeMetadataCorrupt        Code = "METADATA_CORRUPT"
	CodeStoreUnavailable       Code = "STORE_UNAVAILABLE"
	CodeNotFound               Code = "NOT_FOUND"
	CodeUnauthorized           Code = "UNAUTHORIZED"
	CodeForbidden              Code = "FORBIDDEN"
	CodeIdempotencyKeyInUse    Code = "IDEMPOTENCY_KEY_IN_USE"
	CodeAuditUnavailable       Code = "AUDIT_UNAVAILABLE"
	CodeOverloaded             Code = "OVERLOADED"
	CodeUpstreamUnavailable    Code = "UPSTREAM_UNAVAILABLE"
	CodeUpstreamFailed         Code = "UPSTREAM_FAILED"
	CodeMethodNotAllowed       Code = "METHOD_NOT_ALLOWED"
	CodePayloadTooLarge        Code = "PAYLOAD_TOO_LARGE"
	CodeUnsupportedMediaType   Code = "UNSUPPORTED_MEDIA_TYPE"
	CodeInternal               Code = "INTERNAL_ERROR"
)

// Fault is one line of the table of error codes.
type Fault struct {
	// Status is the HTTP status that the code always comes with.
	Status int
	// Retriable tells that the same request may succeed later without a change.
	Retriable bool
}

// FaultOf returns the table's line for code; an unknown code is an internal error.
func FaultOf(code Code) Fault {
	switch code {
	case CodeGroupAlreadyExists, CodeStreamAlreadyExists, CodeGroupHasActiveMembers,
		CodeShardCountMismatch, CodeIdempotencyKeyReused:
		return Fault{Status: http.StatusConflict}
	case CodeActiveMigrationExists, CodeMetadataSyncInProgress, CodeStateVersionConflict, CodeIdempotencyKeyInUse:
		return Fault{Status: http.StatusConflict, Retriable: true}
	case CodeGroupNotFound, CodeStreamNotFound, CodeMigrationNotFound, CodeNotFound:
		return Fault{Status: http.StatusNotFound}
	case CodeRollbackNotAllowed, CodeDrainNotConfirmable:
		return Fault{Status: http.StatusUnprocessableEntity}
	case CodeRedisNotConfigured, CodeMetadataMissing, CodeMetadataCorrupt:
		return Fault{Status: http.StatusServiceUnavailable}
	case CodeProvisioningFailed, CodeStateMutexUnavailable, CodeTerminating, CodeStoreUnavailable,
		CodeAuditUnavailable, CodeOverloaded, CodeUpstreamUnavailable:
		return Fault{Status: http.StatusServiceUnavailable, Retriable: true}
	case CodeUpstreamFailed:
		return Fault{Status: http.StatusBadGateway, Retriable: true}
	case CodeUnauthorized:
		return Fault{Status: http.StatusUnauthorized}
	case CodeForbidden:
		return Fault{Status: http.StatusForbidden}
	case CodeRateLimitExceeded:
		return Fault{Status: http.StatusTooManyRequests, Retriable: true}
	case CodeInvalidRequest:
		return Fault{Status: http.StatusBadRequest}
	case CodeMethodNotAllowed:
		return Fault{Status: http.StatusMethodNotAllowed}
	case CodePayloadTooLarge:
		return Fault{Status: http.StatusRequestEntityTooLarge}
	case CodeUnsupportedMediaType:
		return Fault{Status: http.StatusUnsupportedMediaType}
	case CodeInternal:
	}
	return Fault{Status: http.StatusInternalServerError, Retriable: true}
}

// Error is a refusal that the API answers with its code. It is the error that the
// coordinator's layers return and that the SDK's Admin gives to its caller.
type Error struct {
	Code    Code
	Message string
	// RequestID is filled in by the client from the answer; servers leave it empty.
	RequestID string
	// Cause is what led here, if anything; it is never sent.
	Cause error
}

// Errorf returns an Error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Because returns a copy of e that wraps cause.
func (e *Error) Because(cause error) *Error {
	withCause := *e
	withCause.Cause = cause
	return &withCause
}

// Error implements error.
func (e *Error) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Retriable tells whether the same request may succeed later.
func (e *Error) Retriable() bool { return FaultOf(e.Code).Retriable }

// ErrorResponse is the body of every refusal.
type ErrorResponse struct {
	// Status is the name of the HTTP status, for example CONFLICT.
	Status    string `json:"status"`
	ErrorCode Code   `json:"errorCode"`
	Message   string `json:"message"`
	RequestID string `json:"requestId"`
	Retriable bool   `json:"retriable"`
}
