package e2e_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// usualLimit is how many changes of one stream by one user pass in a minute.
const usualLimit = 60

// The session of the README works as it is written there, and every change that was asked
// for in it, and in a minute with one too many, is in the audit with what was sent (gateway,
// Audit and Rate limit).
func TestGatewaySessionOfTheREADMEWorks(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, guardedPlan{coordinators: 1, gateways: 1})
	ear := startListening(t, g.gateways[0].url())
	block := readmeBlock(t, "### The guarded door", "```bash\n")
	expected := regexp.MustCompile(`(?m)^ask .*# (\d{3})`).FindAllStringSubmatch(block, -1)
	require.Len(t, expected, 5)
	said := runSession(t, block, ear.url)
	seen := regexp.MustCompile(`(?m) -> (\d{3})$`).FindAllStringSubmatch(said, -1)
	require.Equal(t, submatches(expected), submatches(seen), said)
	require.Contains(t, said, "Logged in as viewer")
	require.Contains(t, said, "The audit is whole: 6 records.")
	require.NotContains(t, said, "canary")

	ops, viewer := g.login(userOps), g.login(userViewer)
	enoughOfWindow(t, time.Minute, 20*time.Second, time.Now)
	for i := range usualLimit + 1 {
		got, err := sendWith(g.http, ear.url, guardedCall{
			method: http.MethodPost, path: api("/streams/payments"), token: ops,
			body: fmt.Sprintf(`{"initialShardCount": 2, "requestedBy": "e2e", "reason": "number %d"}`, i),
		})
		require.NoError(t, err)
		switch {
		case i == 0:
			require.Equal(t, http.StatusCreated, got.status, "%s", got.body)
		case i < usualLimit:
			require.Equal(t, http.StatusConflict, got.status, "%d: %s", i, got.body)
		default:
			require.Equal(t, http.StatusTooManyRequests, got.status, "%s", got.body)
			again, err := strconv.Atoi(got.header.Get("Retry-After"))
			require.NoError(t, err)
			require.Positive(t, again)
			require.LessOrEqual(t, again, 60)
		}
	}
	ear.requireAudited(t, g.audit(viewer))
	verified := g.rscctl(viewer, "audit", "verify")
	require.Zero(t, verified.code, verified.text)
}

// runSession runs a script as somebody would who has typed what the README says before it.
func runSession(t *testing.T, script, door string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Symlink(binaries, filepath.Join(dir, "bin")))
	run := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	run.Dir = dir
	run.Env = append(os.Environ(),
		"BASE="+door+protocol.BasePath, "OPS_PASSWORD="+passwordOf(userOps), "VIEWER_PASSWORD="+passwordOf(userViewer),
		"RSC_COORDINATOR="+door, "RSC_TOKEN=", "XDG_CONFIG_HOME="+dir,
	)
	said, err := run.CombinedOutput()
	require.NoError(t, err, "%s", said)
	return string(said)
}

// readmeBlock returns the first fenced block that begins so, in a section of the README.
func readmeBlock(t *testing.T, section, fence string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "\n"+section+"\n")
	require.True(t, found, "the README has %q", section)
	after, _, _ = strings.Cut(after, "\n## ")
	_, block, found := strings.Cut(after, "\n"+fence)
	require.True(t, found)
	block, _, _ = strings.Cut(block, "\n```")
	return block + "\n"
}

func submatches(matches [][]string) []string {
	var texts []string
	for _, one := range matches {
		texts = append(texts, one[1])
	}
	return texts
}

// overheard is a change that was asked for: what was sent, and what the answer says.
type overheard struct {
	bodyHash, requestID string
	status              int
}

// listening stands before a gateway and takes note of the changes that are asked for.
type listening struct {
	url string

	mu      sync.Mutex
	changes []overheard
}

func startListening(t *testing.T, target string) *listening {
	t.Helper()
	to, err := url.Parse(target)
	require.NoError(t, err)
	transport := &http.Transport{}
	ear := &listening{}
	forward := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	forward.ModifyResponse = func(answer *http.Response) error {
		hash, isChange := answer.Request.Context().Value(ear).(string)
		if isChange {
			ear.mu.Lock()
			defer ear.mu.Unlock()
			ear.changes = append(ear.changes, overheard{hash, answer.Header.Get("X-Request-Id"), answer.StatusCode})
		}
		return nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/auth/login") {
			body, _ := io.ReadAll(r.Body)
			hash := sha256.Sum256(body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			r = r.WithContext(context.WithValue(r.Context(), ear, hex.EncodeToString(hash[:])))
		}
		forward.ServeHTTP(w, r)
	}))
	ear.url = server.URL
	t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
	})
	return ear
}

// requireAudited requires that the audit has all that was heard, with its outcome, and
// nothing else.
func (l *listening) requireAudited(t *testing.T, records []protocol.AuditRecord) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	trails := byRequest(records)
	require.Len(t, trails, len(l.changes))
	counted := map[int]int{}
	for _, one := range l.changes {
		outcome := requireTrail(t, trails[one.requestID])
		require.Equal(t, one.status, outcome.Status)
		require.Equal(t, one.bodyHash, outcome.BodySHA256, "the hash of what was sent")
		require.Equal(t, one.bodyHash, trails[one.requestID][0].BodySHA256)
		counted[one.status]++
		refusedByGateway := slices.Contains([]int{401, 403, 429}, one.status)
		require.Equal(t, !refusedByGateway, outcome.Intended, "status %d", one.status)
		require.Equal(t, one.status >= 400, outcome.Result == protocol.AuditRefused, "status %d", one.status)
		if one.status == http.StatusUnauthorized {
			require.Empty(t, outcome.Principal)
		}
	}
	require.Equal(t, map[int]int{201: 2, 202: 1, 401: 1, 403: 1, 409: usualLimit - 1, 429: 1}, counted)
}
