package charttest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
)

// claim is what holds for the objects of every set of values.
type claim struct {
	name  string
	check func(t *testing.T, objects charttest.Objects)
}

func claims() []claim {
	return []claim{
		{"no object is made twice", objectsAreUnique},
		{"names and labels are valid", namesAreValid},
		{"pods are restricted", podsAreRestricted},
		{"pods have no token for the API", podsHaveNoToken},
		{"pods have time to end", podsHaveTimeToEnd},
		{"updates take no pod away", updatesTakeNoneAway},
		{"volumes are mounted and their keys exist", volumesAreMounted},
		{"secrets are readable", secretsAreReadable},
		{"selectors find their own part only", selectorsFindTheirPart},
		{"services lead to the ports of containers", servicesLeadToContainers},
		{"flows are open at both ends", flowsAreOpenAtBothEnds},
	}
}

// Every object of every set is one that an API server takes: no key that its kind does not
// have, none twice, no wrong type. And it keeps each rule.
func TestEverySet(t *testing.T) {
	t.Parallel()
	sets := charttest.Sets(t)
	for _, name := range []string{
		"minimal", "ha", "redis-cluster", "sentinel-tls", "redis-url", "postgres", "ingress", "monitoring", "existing-secrets",
		"users", "networkpolicy", "no-policies",
	} {
		require.Contains(t, sets, name)
	}
	for name, values := range sets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := charttest.Render(t, values, nil)
			for _, claim := range claims() {
				t.Run(claim.name, func(t *testing.T) {
					t.Parallel()
					claim.check(t, objects)
				})
			}
		})
	}
}

func objectsAreUnique(t *testing.T, objects charttest.Objects) {
	t.Helper()
	seen := map[string]bool{}
	for _, object := range objects {
		key := object.Kind + "/" + object.Value.GetNamespace() + "/" + object.Value.GetName()
		require.False(t, seen[key], "%s is made twice", key)
		seen[key] = true
	}
}

func TestEverySetIsFreeOfLint(t *testing.T) {
	t.Parallel()
	for name, values := range charttest.Sets(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, message := range lint.All(charttest.Dir(), values, charttest.Namespace, true).Messages {
				require.LessOrEqual(t, message.Severity, support.InfoSev, message.Error())
			}
		})
	}
}
