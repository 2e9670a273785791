package charttest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	networking "k8s.io/api/networking/v1"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
)

// What is said after an installation names what is there, never a password.
func TestTheNotesSayHowToComeIn(t *testing.T) {
	t.Parallel()
	notes := func(set string) string {
		manifests, err := charttest.Manifests(charttest.Sets(t)[set], nil)
		require.NoError(t, err)
		return manifests["NOTES.txt"]
	}
	minimal := notes("minimal")
	for _, line := range []string{
		"kubectl -n streams rollout status deployment/rel-rsc-gateway deployment/rel-rsc-coordinator\n",
		"kubectl -n streams port-forward service/rel-rsc-gateway 8080:8080\n",
		"kubectl -n streams get secret rel-rsc-gateway -o jsonpath='{.data.admin-password}' | base64 -d; echo\n",
		"open http://localhost:8080/console", "role MEMBER",
	} {
		require.Contains(t, minimal, line)
	}
	users := notes("users")
	require.NotContains(t, users, "admin-password", "nobody was made")
	require.NotContains(t, users, "/console", "there is none")
	require.Contains(t, users, "RSC_COORDINATOR=http://localhost:8080 rscctl login --user NAME")
	require.Contains(t, users, "coordinator.replicas is 1")

	ingress := notes("ingress")
	require.Contains(t, ingress, "https://streams.example.com/console")
	require.NotContains(t, ingress, "no TLS")
	open, err := charttest.Manifests(charttest.Values(t, "{redis: {host: r}, ingress: {enabled: true, host: h, tls: {enabled: false}}}"), nil)
	require.NoError(t, err)
	require.Contains(t, open["NOTES.txt"], "Set settings.api.secure-cookies to false")
}

func TestTheIngressLeadsToTheGatewayWithTLS(t *testing.T) {
	t.Parallel()
	found := charttest.Named[*networking.Ingress](t, charttest.Render(t, charttest.Sets(t)["ingress"], nil), "rel-rsc-gateway")
	require.Equal(t, []networking.IngressTLS{{Hosts: []string{"streams.example.com"}, SecretName: "rel-rsc-tls"}}, found.Spec.TLS)
	require.Equal(t, "nginx", *found.Spec.IngressClassName)
	require.Len(t, found.Spec.Rules, 1)
	backend := found.Spec.Rules[0].HTTP.Paths[0].Backend.Service
	require.Equal(t, "rel-rsc-gateway", backend.Name)
	require.Equal(t, "http", backend.Port.Name)
}

// The guide names every set of values, so that each has its reader.
func TestTheGuideNamesEverySet(t *testing.T) {
	t.Parallel()
	guide := charttest.Read(t, "docs", "kubernetes.md")
	for name := range charttest.Sets(t) {
		require.Contains(t, guide, "(../deploy/helm/redis-stream-coordinator/ci/"+name+"-values.yaml)")
	}
}

func TestObjectsAreNamedAfterTheRelease(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 53)
	for release, want := range map[string]string{
		"rel": "rel-rsc-gateway", "rsc": "rsc-gateway", "rsc-test": "rsc-test-gateway", "redis-stream-coordinator": "redis-stream-coordinator-gateway",
		long: long[:40] + "-gateway",
	} {
		manifests, err := charttest.ManifestsOf(release, charttest.Values(t, "redis: {host: r}"), nil)
		require.NoError(t, err)
		require.Contains(t, manifests["NOTES.txt"], "service/"+want+" ")
		require.Contains(t, manifests["admin-gateway.yaml"], "\n  name: "+want+"\n")
	}
	override, err := charttest.Manifests(charttest.Values(t, "{redis: {host: r}, nameOverride: streams}"), nil)
	require.NoError(t, err)
	require.Contains(t, override["NOTES.txt"], "service/rel-streams-gateway ")
}
