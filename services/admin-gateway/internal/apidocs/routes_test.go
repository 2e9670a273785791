package apidocs_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// TestTheDocumentAndTheRoutesAgree about what there is, who may ask for it, and what is a
// change.
func TestTheDocumentAndTheRoutesAgree(t *testing.T) {
	t.Parallel()
	table := route.New(route.Config{})
	methods := map[string][]string{}
	for _, operation := range openapitest.Load(t).Operations() {
		path := strings.NewReplacer(
			"{streamPrefix}", "orders", "{consumerGroup}", "billing", "{memberId}", "billing-1", "{reshardingId}", "01JZ5M3T4V",
			"{shardIndex}", "3",
		).Replace(operation.Path)
		found, err := table.Match(operation.Method, path, "")
		require.NoError(t, err, operation.ID)
		require.Equal(t, operation.Path, found.Pattern)
		methods[path] = append(methods[path], operation.Method)

		require.Equal(t, len(operation.Roles) == 0, found.Access.Public, operation.ID)
		require.Equal(t, auth.RolesOf(operation.Roles)&^implied(operation.Roles), found.Access.Roles, operation.ID)
		require.Equal(t, slices.Contains(operation.Roles, "WRITE"), found.Mutation, operation.ID)
		require.Equal(t, slices.Contains(operation.Roles, "MEMBER"), found.Access.MemberAPI, operation.ID)
		require.Equal(t, operation.Body != nil, found.MaxBody > 0, operation.ID)
		require.Equal(t, operation.Example != nil, found.Service == route.Coordinator || isProbe(operation.ID), operation.ID)
	}
	for path, documented := range methods {
		allowed := slices.DeleteFunc(table.Allowed(path), func(method string) bool { return method == http.MethodHead })
		require.ElementsMatch(t, documented, allowed, path)
	}
}

// implied is READ where WRITE is asked for, which comes with it: the route asks for WRITE.
func implied(roles []string) auth.Roles {
	if slices.Contains(roles, "WRITE") {
		return auth.Read
	}
	return 0
}

// isProbe tells what every process of the suite answers itself, a coordinator too.
func isProbe(id string) bool {
	return id == "getLiveness" || id == "getReadiness" || id == "getVersion"
}
