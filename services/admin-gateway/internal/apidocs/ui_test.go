package apidocs_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// links of a page: what src, href and data-spec say.
func links(page string) []string {
	var found []string
	for _, match := range regexp.MustCompile(`(?:src|href|data-spec)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		found = append(found, match[1])
	}
	return found
}

func TestThePageLoadsAllOfItFromBesideItWhereverItIs(t *testing.T) {
	t.Parallel()
	docs := newDocs(t, "/coord/v1")
	for at, beside := range map[string]string{
		"/docs": "/", "/docs/": "/", "/some/where/api": "/some/where/", "/a/b/": "/a/", "/odd:name": "/",
	} {
		page := get(t, docs.UI(), at)
		require.Equal(t, http.StatusOK, page.Code)
		require.Equal(t, "text/html; charset=utf-8", page.Header().Get("Content-Type"))
		found := links(page.Body.String())
		require.Len(t, found, 7)
		base, err := url.Parse("http://gateway" + at)
		require.NoError(t, err)
		for _, link := range found {
			target, err := base.Parse(link)
			require.NoError(t, err)
			require.Equal(t, "gateway", target.Host)
			if strings.HasSuffix(target.Path, ".json") {
				require.Equal(t, beside+"openapi.json", target.Path)
				continue
			}
			require.Truef(t, strings.HasPrefix(target.Path, strings.TrimSuffix(at, "/")+"/"), "%s of %s", target.Path, at)
			asset := get(t, docs.UI(), target.Path)
			require.Equalf(t, http.StatusOK, asset.Code, "%s of %s", target.Path, at)
			require.NotEmpty(t, asset.Body.Bytes())
		}
	}
}

func TestThePageAndItsScriptNameNoOtherHost(t *testing.T) {
	t.Parallel()
	docs := newDocs(t, "/coord/v1")
	for _, target := range []string{"/docs", "/docs/start.js"} {
		text := get(t, docs.UI(), target).Body.String()
		require.NotRegexp(t, `(?i)https?:`, text)
		require.NotContains(t, text, `"//`)
	}
	require.Contains(t, get(t, docs.UI(), "/docs/start.js").Body.String(), "validatorUrl: null",
		"Swagger UI asks validator.swagger.io otherwise")
	style := get(t, docs.UI(), "/docs/swagger-ui.css").Body.String()
	require.NotRegexp(t, `(?i)(@import|url\(["']?(https?:)?//)`, style)
}

// TestThePageWorksUnderItsPolicy: there is no script in place, which the policy would stop,
// and every answer has the policy.
func TestThePageWorksUnderItsPolicy(t *testing.T) {
	t.Parallel()
	docs := newDocs(t, "/coord/v1")
	page := get(t, docs.UI(), "/docs").Body.String()
	require.NotRegexp(t, `<script>|<script [^>]*>[^<]|<style|\son[a-z]+=|javascript:`, page)
	for _, target := range []string{"/docs", "/docs/", "/docs/start.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js", "/docs/none.js"} {
		header := get(t, docs.UI(), target).Header()
		policy := header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'")
		require.Contains(t, policy, "script-src 'self';")
		require.Contains(t, policy, "connect-src 'self';")
		require.Contains(t, policy, "frame-ancestors 'none'")
		require.NotContains(t, policy, "unsafe-eval")
		require.NotContains(t, policy, "http")
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		require.Equal(t, "DENY", header.Get("X-Frame-Options"))
	}
}

func TestFilesHaveTheirKind(t *testing.T) {
	t.Parallel()
	docs := newDocs(t, "/coord/v1")
	for file, kind := range map[string]string{
		"start.js": "text/javascript", "swagger-ui-bundle.js": "javascript", "swagger-ui.css": "text/css", "favicon-32x32.png": "image/png",
	} {
		answer := get(t, docs.UI(), "/docs/"+file, "Accept-Encoding", "gzip")
		require.Equalf(t, http.StatusOK, answer.Code, "%s", file)
		require.Containsf(t, answer.Header().Get("Content-Type"), kind, "%s", file)
	}
	plain := get(t, docs.UI(), "/docs/swagger-ui-bundle.js")
	require.Empty(t, plain.Header().Get("Content-Encoding"))
	require.Contains(t, plain.Body.String(), "SwaggerUIBundle", "who takes no gzip gets it plain")
}

func TestNothingElseIsServed(t *testing.T) {
	t.Parallel()
	docs := newDocs(t, "/coord/v1")
	for _, target := range []string{
		"/docs/oauth2-redirect.html", "/docs/embed.go", "/docs/swagger-ui.js.gz", "/docs/openapi.yaml", "/docs/..", "/docs/.", "/docs/swagger-ui.css.gz",
	} {
		answer := get(t, docs.UI(), target)
		require.Equalf(t, http.StatusNotFound, answer.Code, "%s", target)
		require.Contains(t, answer.Body.String(), `"errorCode":"NOT_FOUND"`)
	}
	for _, target := range []string{"/docs?url=http://evil/x.json", "/docs?proxy=http://evil/"} {
		answer := get(t, docs.UI(), target)
		require.Equal(t, http.StatusOK, answer.Code)
		require.NotContains(t, answer.Body.String(), "evil")
	}
	odd := get(t, docs.UI(), `/%22%3E%3Cscript%3Ealert(1)%3C`)
	require.Equal(t, http.StatusOK, odd.Code)
	require.NotContains(t, odd.Body.String(), "<script>alert")
}
