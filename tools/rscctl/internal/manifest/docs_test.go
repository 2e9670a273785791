package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/manifest"
)

func TestTheFileOfTheDocumentationIsOne(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "gitops.md"))
	require.NoError(t, err)
	_, text, found := strings.Cut(string(page), "```yaml\n")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "```")
	taken, err := manifest.Parse("streams.yaml", []byte(text))
	require.NoError(t, err)
	require.Len(t, taken.Streams, 2)
	require.Equal(t, []manifest.Group{early("billing"), late("search")}, taken.Streams[0].Groups)
}
