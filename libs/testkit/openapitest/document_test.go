package openapitest_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
)

func TestTheDocumentIsValidOpenAPIWithFittingExamples(t *testing.T) {
	t.Parallel()
	document := openapitest.Load(t)
	require.Equal(t, protocol.BasePath, document.BasePath())
	require.Equal(t, "3.0.3", document.Spec().OpenAPI)
	require.Greater(t, len(document.Operations()), 30)
}

func TestEveryOperationIsExplained(t *testing.T) {
	t.Parallel()
	document := openapitest.Load(t)
	var tags []string
	for _, tag := range document.Spec().Tags {
		require.NotEmpty(t, tag.Description)
		tags = append(tags, tag.Name)
	}
	ids := map[string]bool{}
	for _, operation := range document.Operations() {
		spec := operation.Spec()
		require.NotEmpty(t, spec.Summary, operation.ID)
		require.NotNil(t, operation.Roles, operation.ID)
		require.Subset(t, []string{"READ", "WRITE", "MEMBER", "ANY"}, operation.Roles)
		require.Len(t, spec.Tags, 1)
		require.Contains(t, tags, spec.Tags[0], operation.ID)
		require.False(t, ids[operation.ID], "%s is twice there", operation.ID)
		ids[operation.ID] = true
		for _, parameter := range spec.Parameters {
			require.NotEmptyf(t, parameter.Value.Description, "%s of %s", parameter.Value.Name, operation.ID)
		}
		for status, response := range spec.Responses.Map() {
			require.NotEmptyf(t, *response.Value.Description, "%s of %s", status, operation.ID)
			require.Containsf(t, response.Value.Headers, "X-Request-Id", "%s of %s", status, operation.ID)
			for _, media := range response.Value.Content {
				shown := media.Example != nil || len(media.Examples) > 0 || operation.ID == "getOpenApi"
				require.Truef(t, shown, "%s of %s has no example", status, operation.ID)
			}
		}
	}
}

// TestOperationsHaveTheRefusalsOfTheirKind: what the gateway's stages can answer is listed
// wherever they work (gateway, pipeline).
func TestOperationsHaveTheRefusalsOfTheirKind(t *testing.T) {
	t.Parallel()
	for _, operation := range openapitest.Load(t).Operations() {
		statuses := []string{"400", "500"}
		secured := operation.Spec().Security == nil
		if secured {
			statuses = append(statuses, "401", "403", "429", "503")
		}
		changes := slices.Contains(operation.Roles, "WRITE")
		if operation.Body != nil {
			statuses = append(statuses, "413", "415")
		}
		if changes {
			statuses = append(statuses, "409", "502")
		}
		if strings.Contains(operation.Path, "{") && operation.Method == http.MethodGet {
			statuses = append(statuses, "404", "502")
		}
		for _, status := range statuses {
			require.NotNilf(t, operation.Spec().Responses.Value(status), "%s of %s", status, operation.ID)
		}
		key := operation.Spec().Parameters.GetByInAndName("header", "Idempotency-Key")
		require.Equalf(t, changes, key != nil, "Idempotency-Key of %s", operation.ID)
	}
}

// TestEveryErrorCodeIsListedWithItsStatus: the table of libs/protocol is the truth.
func TestEveryErrorCodeIsListedWithItsStatus(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../protocol/errors.go")
	require.NoError(t, err)
	var codes []string
	for _, match := range regexp.MustCompile(`Code += "([A-Z_]+)"`).FindAllStringSubmatch(string(source), -1) {
		codes = append(codes, match[1])
	}
	require.Greater(t, len(codes), 30)

	spec := openapitest.Load(t).Spec()
	var enum []string
	for _, value := range spec.Components.Schemas["ErrorCode"].Value.Enum {
		enum = append(enum, fmt.Sprint(value))
	}
	require.ElementsMatch(t, codes, enum)

	listed := map[string]int{}
	for name, response := range spec.Components.Responses {
		status, there := response.Value.Extensions["x-status"].(float64)
		if !there {
			require.Equal(t, "Planned", name)
			continue
		}
		for _, code := range openapitest.Codes(t, response.Value.Extensions) {
			listed[code] = int(status)
		}
	}
	for _, code := range codes {
		require.Equal(t, protocol.FaultOf(protocol.Code(code)).Status, listed[code], code)
	}
	for _, operation := range openapitest.Load(t).Operations() {
		requireOwnCodes(t, operation, listed)
	}
}

// requireOwnCodes checks that an operation names codes for its 404, 409 and 422, and only
// for statuses that it has.
func requireOwnCodes(t *testing.T, operation openapitest.Operation, statusOf map[string]int) {
	t.Helper()
	has := map[int]bool{}
	for _, code := range openapitest.Codes(t, operation.Spec().Extensions) {
		status := statusOf[code]
		require.NotNilf(t, operation.Spec().Responses.Status(status), "%s of %s", code, operation.ID)
		has[status] = true
	}
	for _, status := range []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity} {
		require.Equalf(t, operation.Spec().Responses.Status(status) != nil, has[status], "codes for %d of %s", status, operation.ID)
	}
}
