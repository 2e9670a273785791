package charttest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
)

// flows returns what the policies let through between the pods of the chart, as
// "from -> to:port", and with what is outside of it as "anybody", "others" (peers of the
// values) and "anywhere".
func flows(t *testing.T, objects charttest.Objects) []string {
	t.Helper()
	var found []string
	for _, policy := range charttest.All[*networking.NetworkPolicy](objects) {
		self := pods(objects, selects(t, &policy.Spec.PodSelector))
		require.Equal(t, []string{policy.Name}, self)
		require.Equal(t, []networking.PolicyType{networking.PolicyTypeIngress, networking.PolicyTypeEgress}, policy.Spec.PolicyTypes)
		for _, rule := range policy.Spec.Ingress {
			require.NotEmpty(t, rule.Ports, "a rule without ports opens all of them")
			for _, port := range rule.Ports {
				for _, peer := range ends(t, objects, rule.From, "anybody") {
					found = append(found, fmt.Sprintf("in %s -> %s:%s", peer, part(self[0]), port.Port))
				}
			}
		}
		for _, rule := range policy.Spec.Egress {
			require.NotEmpty(t, rule.Ports, "a rule without ports opens all of them")
			for _, port := range rule.Ports {
				for _, peer := range ends(t, objects, rule.To, "anywhere") {
					found = append(found, fmt.Sprintf("out %s -> %s:%s", part(self[0]), peer, port.Port))
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func ends(t *testing.T, objects charttest.Objects, peers []networking.NetworkPolicyPeer, none string) []string {
	t.Helper()
	if len(peers) == 0 {
		return []string{none}
	}
	var found []string
	for _, peer := range peers {
		if peer.NamespaceSelector != nil || peer.IPBlock != nil || len(peer.PodSelector.MatchLabels) == 0 {
			found = append(found, "others")
			continue
		}
		inside := pods(objects, selects(t, peer.PodSelector))
		if len(inside) == 0 {
			found = append(found, "others")
		}
		for _, name := range inside {
			found = append(found, part(name))
		}
	}
	return found
}

func part(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

// Architecture, Processes: requests come in at the gateway; only it and the monitor ask
// coordinators, besides members; the console asks the gateway and nobody else.
func TestPoliciesLetThroughWhatIsNeededAndNothingElse(t *testing.T) {
	t.Parallel()
	inside := []string{
		"in anybody -> gateway:8080",
		"in gateway -> coordinator:8081", "in gateway -> monitor:8082", "in gateway -> web:8083", "in monitor -> coordinator:8081",
		"in others -> coordinator:8081", "in others -> coordinator:9081", "in others -> gateway:9080", "in others -> monitor:9082", "in others -> web:9083",
		"out coordinator -> anywhere:53", "out gateway -> anywhere:53", "out monitor -> anywhere:53", "out web -> anywhere:53",
		"out coordinator -> gateway:8080", "out monitor -> gateway:8080", "out web -> gateway:8080",
		"out gateway -> coordinator:8081", "out gateway -> monitor:8082", "out gateway -> web:8083", "out monitor -> coordinator:8081",
	}
	redis := func(to string, ports ...int) []string {
		var found []string
		for _, port := range ports {
			for _, from := range []string{"coordinator", "gateway", "monitor"} {
				found = append(found, fmt.Sprintf("out %s -> %s:%d", from, to, port))
			}
		}
		return found
	}
	narrow := slices.DeleteFunc(slices.Clone(inside), func(flow string) bool { return strings.HasPrefix(flow, "in anybody") })
	narrow = append(narrow, "in others -> gateway:8080", "in coordinator -> gateway:8080", "in monitor -> gateway:8080", "in web -> gateway:8080")
	noConsole := slices.DeleteFunc(slices.Clone(inside), func(flow string) bool { return strings.Contains(flow, "web") })
	for set, want := range map[string][]string{
		"minimal":          slices.Concat(inside, redis("anywhere", 6379)),
		"redis-cluster":    slices.Concat(inside, redis("anywhere", 7000, 7001)),
		"sentinel-tls":     slices.Concat(inside, redis("anywhere", 26379, 6380)),
		"redis-url":        slices.Concat(inside, redis("anywhere", 6390)),
		"existing-secrets": slices.Concat(inside, redis("anywhere", 6379), []string{"out coordinator -> anywhere:5432"}),
		"postgres":         slices.Concat(inside, redis("anywhere", 6379, 7001), []string{"out coordinator -> others:5433", "out gateway -> others:5432"}),
		"monitoring":       slices.Concat(inside, redis("anywhere", 6379, 4318)),
		"networkpolicy":    slices.Concat(narrow, redis("others", 6379, 16379)),
		"ingress":          slices.Concat(narrow, redis("anywhere", 6379)),
		"users":            slices.Concat(noConsole, redis("anywhere", 6379)),
		"no-policies":      nil,
	} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			values, known := charttest.Sets(t)[set]
			require.True(t, known)
			require.ElementsMatch(t, want, flows(t, charttest.Render(t, values, nil)))
		})
	}
}

// What one side may send the other side takes.
func flowsAreOpenAtBothEnds(t *testing.T, objects charttest.Objects) {
	t.Helper()
	all := flows(t, objects)
	for _, flow := range all {
		way, between, _ := strings.Cut(flow, " ")
		if strings.Contains(flow, "any") || strings.Contains(flow, "others") {
			continue
		}
		other := map[string]string{"in": "out ", "out": "in "}[way] + between
		open := slices.Contains(all, other) || way == "out" && slices.Contains(all, "in anybody -> "+strings.Split(between, "-> ")[1])
		require.True(t, open, "%s, but not %s", flow, other)
	}
}

// Who is asked for by the configuration may be reached by the policies, on the ports that the
// containers have.
func servicesLeadToContainers(t *testing.T, objects charttest.Objects) {
	t.Helper()
	for _, deployment := range charttest.All[*apps.Deployment](objects) {
		container := deployment.Spec.Template.Spec.Containers[0]
		ports := map[string]int32{}
		for _, port := range container.Ports {
			ports[port.Name] = port.ContainerPort
		}
		require.Len(t, ports, 2)
		for _, probe := range []*core.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
			require.Contains(t, ports, probe.HTTPGet.Port.String())
		}
		for _, service := range charttest.All[*core.Service](objects) {
			if strings.TrimSuffix(service.Name, "-metrics") != deployment.Name {
				continue
			}
			require.Len(t, service.Spec.Ports, 1)
			port := service.Spec.Ports[0]
			require.Equal(t, ports[port.TargetPort.String()], port.Port, service.Name)
			want := "http"
			if strings.HasSuffix(service.Name, "-metrics") {
				want = "metrics"
			}
			require.Equal(t, []string{want, want}, []string{port.Name, port.TargetPort.String()}, service.Name)
		}
	}
}
