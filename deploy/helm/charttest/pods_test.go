package charttest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
)

func containers(pod core.PodSpec) []core.Container {
	return append(append([]core.Container{}, pod.InitContainers...), pod.Containers...)
}

// Secrets can be read by those who run: by their group where the chart sets one, by all inside
// the pod where the platform chooses the user.
func secretsAreReadable(t *testing.T, objects charttest.Objects) {
	t.Helper()
	for _, deployment := range charttest.All[*apps.Deployment](objects) {
		pod := deployment.Spec.Template.Spec
		for _, volume := range pod.Volumes {
			if volume.Projected == nil {
				continue
			}
			want := int32(0o440)
			if pod.SecurityContext.FSGroup == nil {
				want = 0o444
			}
			require.Equal(t, want, *volume.Projected.DefaultMode, deployment.Name)
		}
	}
}

// The profile "restricted" of the Pod Security Standards, rule by rule, and a root file system
// that nobody writes to.
func podsAreRestricted(t *testing.T, objects charttest.Objects) {
	t.Helper()
	for _, deployment := range charttest.All[*apps.Deployment](objects) {
		pod := deployment.Spec.Template.Spec
		require.False(t, pod.HostNetwork || pod.HostPID || pod.HostIPC)
		require.True(t, *pod.SecurityContext.RunAsNonRoot)
		if user := pod.SecurityContext.RunAsUser; user != nil {
			require.Positive(t, *user)
			require.Equal(t, []int64{*user, *user}, []int64{*pod.SecurityContext.RunAsGroup, *pod.SecurityContext.FSGroup})
		}
		require.Equal(t, core.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
		require.Empty(t, pod.SecurityContext.Sysctls)
		for _, volume := range pod.Volumes {
			allowed := volume.ConfigMap != nil || volume.Secret != nil || volume.Projected != nil || volume.EmptyDir != nil
			require.True(t, allowed, volume.Name)
		}
		for _, container := range containers(pod) {
			security := container.SecurityContext
			require.NotNil(t, security, container.Name)
			require.False(t, *security.AllowPrivilegeEscalation)
			require.True(t, *security.ReadOnlyRootFilesystem)
			require.True(t, *security.RunAsNonRoot)
			require.Nil(t, security.Privileged)
			require.Equal(t, []core.Capability{"ALL"}, security.Capabilities.Drop)
			require.Empty(t, security.Capabilities.Add)
			require.Equal(t, core.SeccompProfileTypeRuntimeDefault, security.SeccompProfile.Type)
			for _, port := range container.Ports {
				require.Zero(t, port.HostPort)
			}
			require.NotEmpty(t, container.Resources.Requests, container.Name)
			require.NotEmpty(t, container.Resources.Limits.Memory(), container.Name)
		}
	}
}

// Nothing asks the Kubernetes API, so nothing has a token for it.
func podsHaveNoToken(t *testing.T, objects charttest.Objects) {
	t.Helper()
	for _, deployment := range charttest.All[*apps.Deployment](objects) {
		pod := deployment.Spec.Template.Spec
		require.False(t, *pod.AutomountServiceAccountToken)
		account := charttest.Named[*core.ServiceAccount](t, objects, pod.ServiceAccountName)
		require.False(t, *account.AutomountServiceAccountToken)
		require.False(t, *pod.EnableServiceLinks, "variables of services' names may begin with RSC_")
	}
}

// pods returns the Deployments whose pods a selector finds.
func pods(objects charttest.Objects, selector labels.Selector) []string {
	var found []string
	for _, deployment := range charttest.All[*apps.Deployment](objects) {
		if selector.Matches(labels.Set(deployment.Spec.Template.Labels)) {
			found = append(found, deployment.Name)
		}
	}
	return found
}

func selects(t *testing.T, by *meta.LabelSelector) labels.Selector {
	t.Helper()
	selector, err := meta.LabelSelectorAsSelector(by)
	require.NoError(t, err)
	return selector
}

func selectorsFindTheirPart(t *testing.T, objects charttest.Objects) {
	t.Helper()
	for _, deployment := range charttest.All[*apps.Deployment](objects) {
		own := []string{deployment.Name}
		require.Equal(t, own, pods(objects, selects(t, deployment.Spec.Selector)))
		for _, constraint := range deployment.Spec.Template.Spec.TopologySpreadConstraints {
			require.Equal(t, own, pods(objects, selects(t, constraint.LabelSelector)))
		}
		if affinity := deployment.Spec.Template.Spec.Affinity; affinity != nil {
			for _, term := range affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				require.Equal(t, own, pods(objects, selects(t, term.LabelSelector)))
			}
			for _, term := range affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
				require.Equal(t, own, pods(objects, selects(t, term.PodAffinityTerm.LabelSelector)))
			}
		}
		charttest.Named[*core.Service](t, objects, deployment.Name)
	}
	for _, service := range charttest.All[*core.Service](objects) {
		found := pods(objects, labels.SelectorFromSet(service.Spec.Selector))
		require.Equal(t, []string{strings.TrimSuffix(service.Name, "-metrics")}, found)
	}
	for _, budget := range charttest.All[*policy.PodDisruptionBudget](objects) {
		require.Equal(t, []string{budget.Name}, pods(objects, selects(t, budget.Spec.Selector)))
	}
}

func namesAreValid(t *testing.T, objects charttest.Objects) {
	t.Helper()
	for _, object := range objects {
		require.Empty(t, validation.IsDNS1035Label(object.Value.GetName()), object.Value.GetName())
		for _, key := range []string{"name", "instance", "part-of", "managed-by"} {
			require.NotEmpty(t, object.Value.GetLabels()["app.kubernetes.io/"+key], object.Value.GetName())
		}
		for key, value := range object.Value.GetLabels() {
			require.Empty(t, validation.IsQualifiedName(key), key)
			require.Empty(t, validation.IsValidLabelValue(value), value)
		}
		for key := range object.Value.GetAnnotations() {
			require.Empty(t, validation.IsQualifiedName(strings.ToLower(key)), key)
		}
	}
}

// A pod that is told to end answers on until nobody is sent to it any more, finishes what is
// under way, and is not killed before (storage design, Failure).
func podsHaveTimeToEnd(t *testing.T, objects charttest.Objects) {
	t.Helper()
	shutdown := shutdowns(t, objects)
	for _, deployment := range charttest.All[*apps.Deployment](objects) {
		pod := deployment.Spec.Template.Spec
		needed := int64(shutdown[deployment.Spec.Template.Labels["app.kubernetes.io/component"]].Seconds())
		require.Positive(t, needed)
		if lifecycle := pod.Containers[0].Lifecycle; lifecycle != nil {
			require.Positive(t, lifecycle.PreStop.Sleep.Seconds)
			needed += lifecycle.PreStop.Sleep.Seconds
		}
		require.Greater(t, *pod.TerminationGracePeriodSeconds, needed, deployment.Name)
	}
}

// A rolling update ends no pod before a new one is ready.
func updatesTakeNoneAway(t *testing.T, objects charttest.Objects) {
	t.Helper()
	for _, deployment := range charttest.All[*apps.Deployment](objects) {
		require.Equal(t, apps.RollingUpdateDeploymentStrategyType, deployment.Spec.Strategy.Type)
		require.Zero(t, deployment.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue())
		require.Equal(t, 1, deployment.Spec.Strategy.RollingUpdate.MaxSurge.IntValue())
	}
}

func TestADrainTakesOnePodAtATime(t *testing.T) {
	t.Parallel()
	minimal := charttest.Render(t, charttest.Values(t, "redis: {host: redis}"), nil)
	deployments := charttest.All[*apps.Deployment](minimal)
	require.Len(t, deployments, 4)
	for _, deployment := range deployments {
		require.EqualValues(t, 2, *deployment.Spec.Replicas, deployment.Name)
		budget := charttest.Named[*policy.PodDisruptionBudget](t, minimal, deployment.Name)
		require.Equal(t, 1, budget.Spec.MaxUnavailable.IntValue())
		require.NotNil(t, deployment.Spec.Template.Spec.Affinity.PodAntiAffinity)
	}
}

// What a container mounts is there, what is there is mounted, and each key exists where the
// chart makes the object.
func volumesAreMounted(t *testing.T, objects charttest.Objects) {
	t.Helper()
	for _, deployment := range charttest.All[*apps.Deployment](objects) {
		pod := deployment.Spec.Template.Spec
		mounted := map[string]bool{}
		for _, container := range containers(pod) {
			paths := map[string]bool{}
			for _, mount := range container.VolumeMounts {
				mounted[mount.Name] = true
				require.False(t, paths[mount.MountPath], mount.MountPath)
				paths[mount.MountPath] = true
			}
		}
		volumes := map[string]bool{}
		for _, volume := range pod.Volumes {
			volumes[volume.Name] = true
			keysExist(t, objects, volume)
		}
		require.Equal(t, volumes, mounted, deployment.Name)
	}
}

func keysExist(t *testing.T, objects charttest.Objects, volume core.Volume) {
	t.Helper()
	if of := volume.ConfigMap; of != nil && charttest.Has[*core.ConfigMap](objects, of.Name) {
		for _, item := range of.Items {
			require.Contains(t, charttest.Named[*core.ConfigMap](t, objects, of.Name).Data, item.Key)
		}
	}
	if volume.Projected == nil {
		return
	}
	for _, source := range volume.Projected.Sources {
		own := strings.HasPrefix(source.Secret.Name, charttest.Release+"-") || strings.HasPrefix(source.Secret.Name, "streams-")
		require.Equal(t, own, charttest.Has[*core.Secret](objects, source.Secret.Name), source.Secret.Name)
		if !own {
			continue
		}
		for _, item := range source.Secret.Items {
			require.Contains(t, charttest.Named[*core.Secret](t, objects, source.Secret.Name).Data, item.Key,
				"%s of %s", item.Key, source.Secret.Name)
		}
	}
}
