package charttest

import (
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	strict "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Object is one object of the chart.
type Object struct {
	// Template is the file that made it, Text its YAML.
	Template, Text string
	// Value is the decoded object, a pointer to a type of the Kubernetes API.
	Value meta.Object
	// Kind is its kind, such as Deployment.
	Kind string
}

// Objects are those of one rendering.
type Objects []Object

// All returns the objects of type T.
func All[T meta.Object](of Objects) []T {
	var found []T
	for _, object := range of {
		if value, is := object.Value.(T); is {
			found = append(found, value)
		}
	}
	return found
}

// Named returns the object of type T and a name; the test fails without one.
func Named[T meta.Object](t *testing.T, of Objects, name string) T {
	t.Helper()
	for _, value := range All[T](of) {
		if value.GetName() == name {
			return value
		}
	}
	var none T
	require.FailNow(t, "no such object", "%T %s", none, name)
	return none
}

// Has tells whether there is an object of type T with a name.
func Has[T meta.Object](of Objects, name string) bool {
	for _, value := range All[T](of) {
		if value.GetName() == name {
			return true
		}
	}
	return false
}

// decode reads the documents of a manifest. Keys that a kind does not have, keys given twice
// and wrong types fail the test.
func decode(t *testing.T, template, manifest string) Objects {
	t.Helper()
	var found Objects
	for document := range strings.SplitSeq("\n"+manifest, "\n---") {
		var head meta.TypeMeta
		require.NoError(t, yaml.Unmarshal([]byte(document), &head), "%s:\n%s", template, document)
		if head.Kind == "" {
			require.Empty(t, withoutComments(document), template)
			continue
		}
		value, known := emptyObject(head.APIVersion + "/" + head.Kind)
		require.True(t, known, "%s makes a %s of %s, which no test knows", template, head.Kind, head.APIVersion)
		asJSON, err := yaml.YAMLToJSONStrict([]byte(document))
		require.NoError(t, err, "%s:\n%s", template, document)
		problems, err := strict.UnmarshalStrict(asJSON, value)
		require.NoError(t, err, "%s:\n%s", template, document)
		require.Empty(t, problems, "%s:\n%s", template, document)
		found = append(found, Object{Template: template, Text: document, Value: value, Kind: head.Kind})
	}
	return found
}

func withoutComments(document string) string {
	var kept strings.Builder
	for line := range strings.Lines(document) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			kept.WriteString(strings.TrimSpace(line))
		}
	}
	return kept.String()
}

// emptyObject returns an object of the kinds that the chart makes.
func emptyObject(kind string) (meta.Object, bool) {
	switch kind {
	case "v1/ServiceAccount":
		return &core.ServiceAccount{}, true
	case "v1/Service":
		return &core.Service{}, true
	case "v1/ConfigMap":
		return &core.ConfigMap{}, true
	case "v1/Secret":
		return &core.Secret{}, true
	case "apps/v1/Deployment":
		return &apps.Deployment{}, true
	case "policy/v1/PodDisruptionBudget":
		return &policy.PodDisruptionBudget{}, true
	case "networking.k8s.io/v1/NetworkPolicy":
		return &networking.NetworkPolicy{}, true
	case "networking.k8s.io/v1/Ingress":
		return &networking.Ingress{}, true
	case "monitoring.coreos.com/v1/ServiceMonitor":
		return &monitoring.ServiceMonitor{}, true
	case "monitoring.coreos.com/v1/PrometheusRule":
		return &monitoring.PrometheusRule{}, true
	default:
		return nil, false
	}
}
