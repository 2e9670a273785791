package openapitest

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// Spec returns the document as the library has it.
func (d *Document) Spec() *openapi3.T { return d.spec }

// Spec returns the operation as the library has it.
func (o Operation) Spec() *openapi3.Operation { return o.operation }

// Codes returns the error codes that a response or an operation lists.
func Codes(t *testing.T, extensions map[string]any) []string {
	t.Helper()
	var codes []string
	require.NoError(t, extension(extensions, codesOf, &codes))
	return codes
}
