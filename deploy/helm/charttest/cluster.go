package charttest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Cluster returns how to reach a Kubernetes API that has the given Secrets and nothing else. It
// ends with the test.
func Cluster(t *testing.T, secrets ...*core.Secret) *rest.Config {
	t.Helper()
	answers := map[string]any{
		"/api":    meta.APIVersions{Versions: []string{"v1"}},
		"/apis":   meta.APIGroupList{},
		"/api/v1": meta.APIResourceList{GroupVersion: "v1", APIResources: []meta.APIResource{{Name: "secrets", Kind: "Secret", Namespaced: true}}},
	}
	for _, secret := range secrets {
		stored := secret.DeepCopy()
		stored.TypeMeta = meta.TypeMeta{APIVersion: "v1", Kind: "Secret"}
		answers["/api/v1/namespaces/"+Namespace+"/secrets/"+secret.Name] = stored
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, known := answers[strings.TrimSuffix(r.URL.Path, "/")]
		if !known {
			w.WriteHeader(http.StatusNotFound)
			answer = meta.Status{Status: meta.StatusFailure, Reason: meta.StatusReasonNotFound, Code: http.StatusNotFound}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}
