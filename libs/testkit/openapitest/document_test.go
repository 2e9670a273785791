package openapitest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
)

func TestTheDocumentIsValidOpenAPIWithFittingExamples(t *testing.T) {
	t.Parallel()
	document := openapitest.Load(t)
	require.Equal(t, "/coord/v1", document.BasePath())
	require.NotEmpty(t, document.Operations())
}
