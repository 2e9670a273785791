package openapitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// Exchange is a request and its answer.
type Exchange struct {
	Method string
	// Path is the path as it was sent, with the query.
	Path string
	// RequestHeader needs no more than what the document names; Content-Type is taken for
	// JSON where there is a body.
	RequestHeader http.Header
	// Request is the body that was sent, empty for none.
	Request []byte

	Status int
	// Header and Body are the answer's.
	Header http.Header
	Body   []byte
}

// Check fails the test when an exchange is not as the document says. Requests are looked
// at only when they were carried out: those that were refused may be as wrong as can be.
func (d *Document) Check(t testing.TB, e Exchange) {
	t.Helper()
	if err := d.Validate(t.Context(), e); err != nil {
		t.Errorf("%s %s: status %d is not as %s says: %v\nrequest: %.2000s\nanswer: %.2000s",
			e.Method, e.Path, e.Status, name, err, e.Request, e.Body)
	}
}

// Validate returns what Check fails for.
func (d *Document) Validate(ctx context.Context, e Exchange) error {
	input, operation, err := d.inputOf(ctx, e)
	switch {
	case err != nil:
		return err
	case operation == nil:
		return d.validateNowhere(e)
	}
	if err := operation.validateAnswer(ctx, *input, e); err != nil {
		return err
	}
	if e.Status >= http.StatusBadRequest {
		return operation.validateRefusal(e)
	}
	if err := openapi3filter.ValidateRequest(ctx, input); err != nil {
		return fmt.Errorf("a request that the document does not allow was carried out: %w", err)
	}
	return nil
}

// ValidateRequest returns why the document does not allow a request, whatever the answer
// was.
func (d *Document) ValidateRequest(ctx context.Context, e Exchange) error {
	input, operation, err := d.inputOf(ctx, e)
	switch {
	case err != nil:
		return err
	case operation == nil:
		return errors.New("the document has no such operation")
	}
	if err := openapi3filter.ValidateRequest(ctx, input); err != nil {
		return fmt.Errorf("check the request: %w", err)
	}
	return nil
}

// inputOf reads a request as the library wants it; the operation is nil where the document
// has none for it.
func (d *Document) inputOf(ctx context.Context, e Exchange) (*openapi3filter.RequestValidationInput, *Operation, error) {
	request, err := requestOf(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	operation, parameters := d.match(e.Method, request.URL.EscapedPath())
	if operation == nil {
		return nil, nil, nil
	}
	return &openapi3filter.RequestValidationInput{
		Request: request, PathParams: parameters,
		Route: &routers.Route{
			Spec: d.spec, Path: operation.Path, PathItem: operation.item, Method: operation.Method, Operation: operation.operation,
		},
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, SkipSettingDefaults: true,
			RejectWhenRequestBodyNotSpecified: true,
		},
	}, operation, nil
}

func requestOf(ctx context.Context, e Exchange) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, e.Method, "http://localhost"+e.Path, bytes.NewReader(e.Request))
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	for name, values := range e.RequestHeader {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	if len(e.Request) > 0 && request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

// validateAnswer holds an answer against the strict form of the operation.
func (o *Operation) validateAnswer(ctx context.Context, input openapi3filter.RequestValidationInput, e Exchange) error {
	if e.Status == http.StatusNotModified {
		return o.validateNotModified(e)
	}
	if !json.Valid(e.Body) { // the library reads a JSON text and leaves what follows
		return errors.New("the answer is not one JSON text")
	}
	route := *input.Route
	route.Operation = o.strict
	input.Route = &route
	answer := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &input, Status: e.Status, Header: e.Header, Options: input.Options,
	}
	if err := openapi3filter.ValidateResponse(ctx, answer.SetBodyBytes(e.Body)); err != nil {
		return fmt.Errorf("check the answer: %w", err)
	}
	return nil
}

// validateNotModified looks at what the library leaves alone.
func (o *Operation) validateNotModified(e Exchange) error {
	response := o.operation.Responses.Status(e.Status)
	switch {
	case response == nil:
		return errors.New("the status is not listed")
	case len(e.Body) > 0:
		return errors.New("a 304 has no body")
	}
	for name, header := range response.Value.Headers {
		if header.Value.Required && e.Header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	return nil
}
