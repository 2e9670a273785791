package apidocs_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.yaml.in/yaml/v3"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/apidocs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const source = "../../../../docs/api/openapi.yaml"

func newDocs(t *testing.T, basePath string) *apidocs.Docs {
	t.Helper()
	docs, err := apidocs.New(basePath)
	require.NoError(t, err)
	return docs
}

func get(t *testing.T, handler http.Handler, target string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

func TestTheCopyIsTheDocument(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(source)
	require.NoError(t, err)
	have, err := os.ReadFile("openapi.yaml")
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "run go generate ./... here")
}

func TestTheSpecSaysInJSONWhatTheDocumentSaysInYAML(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(source)
	require.NoError(t, err)
	var want any
	require.NoError(t, yaml.Unmarshal(data, &want))
	wanted, err := json.Marshal(want)
	require.NoError(t, err)

	answer := get(t, newDocs(t, "/coord/v1").Spec(), "/openapi.json")
	require.Equal(t, http.StatusOK, answer.Code)
	require.JSONEq(t, string(wanted), answer.Body.String())
	require.Equal(t, "application/json", answer.Header().Get("Content-Type"))
	require.Equal(t, "nosniff", answer.Header().Get("X-Content-Type-Options"))
	require.Equal(t, "no-cache", answer.Header().Get("Cache-Control"))

	spec, err := openapi3.NewLoader().LoadFromData(answer.Body.Bytes())
	require.NoError(t, err)
	require.NoError(t, spec.Validate(t.Context()))
}

func TestTheSpecHasTheBasePathOfTheGateway(t *testing.T) {
	t.Parallel()
	tags := map[string]bool{}
	for given, want := range map[string]string{"/coord/v1": "/coord/v1", "/api/x": "/api/x", "": "/", "/": "/", `/"<`: `/"<`} {
		answer := get(t, newDocs(t, given).Spec(), "/openapi.json")
		var spec struct {
			Servers []struct{ URL string }
		}
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &spec))
		require.Equal(t, want, spec.Servers[0].URL)
		tags[answer.Header().Get("ETag")] = true
	}
	require.Len(t, tags, 4, "another document has another ETag")
}

func TestTheSpecIsNotSentAgainToWhomHasIt(t *testing.T) {
	t.Parallel()
	spec := newDocs(t, "/coord/v1").Spec()
	tag := get(t, spec, "/openapi.json").Header().Get("ETag")
	require.Regexp(t, `^"[0-9a-f]{32}"$`, tag)
	require.Equal(t, tag, get(t, newDocs(t, "/coord/v1").Spec(), "/openapi.json").Header().Get("ETag"), "replicas agree")
	for _, match := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
		answer := get(t, spec, "/openapi.json", "If-None-Match", match)
		require.Equalf(t, http.StatusNotModified, answer.Code, "%s", match)
		require.Empty(t, answer.Body.String())
	}
	require.Equal(t, http.StatusOK, get(t, spec, "/openapi.json", "If-None-Match", `"x"`).Code)
}
