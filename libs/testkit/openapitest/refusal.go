package openapitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// codesOf is the extension that lists error codes, at a response and at an operation.
const codesOf = "x-error-codes"

// validateRefusal checks that the code belongs to its status and, for what depends on the
// operation, to the operation.
func (o *Operation) validateRefusal(e Exchange) error {
	response := o.operation.Responses.Status(e.Status)
	refusal, err := readRefusal(e, response.Value)
	if err != nil {
		return err
	}
	switch e.Status {
	case http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity:
		return listed(o.Codes, refusal.ErrorCode, "the operation")
	default:
		return nil
	}
}

// validateNowhere checks the answer to what the document does not have.
func (d *Document) validateNowhere(e Exchange) error {
	name := map[int]string{
		http.StatusBadRequest: "BadRequest", http.StatusUnauthorized: "Unauthorized", http.StatusForbidden: "Forbidden",
		http.StatusNotFound: "NotFound", http.StatusMethodNotAllowed: "MethodNotAllowed", http.StatusServiceUnavailable: "Unavailable",
	}[e.Status]
	if name == "" {
		return fmt.Errorf("the document has no such operation, and %d is no answer to that", e.Status)
	}
	response := d.strict.Components.Responses[name]
	var body any
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return fmt.Errorf("read the refusal: %w", err)
	}
	schema := response.Value.Content.Get("application/json").Schema
	if err := schema.Value.VisitJSON(body, openapi3.VisitAsResponse()); err != nil {
		return fmt.Errorf("check the refusal: %w", err)
	}
	_, err := readRefusal(e, response.Value)
	return err
}

// readRefusal reads a refusal and holds it against the table of codes and its own header.
func readRefusal(e Exchange, response *openapi3.Response) (protocol.ErrorResponse, error) {
	var refusal protocol.ErrorResponse
	if err := json.Unmarshal(e.Body, &refusal); err != nil {
		return refusal, fmt.Errorf("read the refusal: %w", err)
	}
	fault := protocol.FaultOf(refusal.ErrorCode)
	switch {
	case fault.Status != e.Status:
		return refusal, fmt.Errorf("%s comes with status %d", refusal.ErrorCode, fault.Status)
	case fault.Retriable != refusal.Retriable:
		return refusal, fmt.Errorf("retriable of %s is %t", refusal.ErrorCode, fault.Retriable)
	case refusal.Status != httpx.StatusName(e.Status):
		return refusal, fmt.Errorf("the name of the status is %s", httpx.StatusName(e.Status))
	case refusal.RequestID != e.Header.Get(httpx.HeaderRequestID):
		return refusal, fmt.Errorf("requestId is not that of the header, %q", e.Header.Get(httpx.HeaderRequestID))
	}
	var codes []protocol.Code
	if err := extension(response.Extensions, codesOf, &codes); err != nil {
		return refusal, err
	}
	return refusal, listed(codes, refusal.ErrorCode, "the response")
}

func listed(codes []protocol.Code, code protocol.Code, where string) error {
	if !slices.Contains(codes, code) {
		return fmt.Errorf("%s is not one of the error codes of %s: %v", code, where, codes)
	}
	return nil
}
