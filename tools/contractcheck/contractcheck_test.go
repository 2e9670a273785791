package contractcheck_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/contractcheck"
)

// root is the top of the repository, seen from this package.
const root = "../.."

func sums(t *testing.T) map[string]string {
	t.Helper()
	sums, err := contractcheck.Sums(filepath.Join(root, "testdata", "contract"))
	require.NoError(t, err)
	return sums
}

func TestTheContractNamesVectorsShapesAndMetrics(t *testing.T) {
	t.Parallel()
	named := sums(t)
	require.Len(t, named, 4)
	for _, name := range []string{"routing-vectors.json", "slot-vectors.json", "shapes.yaml", "metric-names.md"} {
		require.Contains(t, named, name)
	}
}

func TestContractFilesMatchTheirSums(t *testing.T) {
	t.Parallel()
	require.Empty(t, contractcheck.Differences(filepath.Join(root, "testdata", "contract"), sums(t)))
}

func TestEveryCopyInTheTreeIsTheSameFile(t *testing.T) {
	t.Parallel()
	copies, err := contractcheck.Copies(root, sums(t))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(copies), 4)
	for path, right := range copies {
		require.True(t, right, path)
	}
}

// The originals lie beside the repository where it is developed, or in the directory
// that RSC_CONTRACT_DIR names. Where neither is the case the sums are all there is.
func TestContractFilesAreTheOriginals(t *testing.T) {
	t.Parallel()
	dir, named := os.LookupEnv("RSC_CONTRACT_DIR")
	if !named {
		dir = filepath.Join(root, "..", "shared", "contract")
		if _, err := os.Stat(dir); err != nil {
			t.Log("no originals at hand: RSC_CONTRACT_DIR is not set")
			return
		}
	}
	require.Empty(t, contractcheck.Differences(dir, sums(t)))
}

func TestAnAlteredFileIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	require.NoError(t, os.WriteFile(filepath.Join(dir, contractcheck.SumsFile), []byte(empty+"  a.json\n"+empty+"  gone.json\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.json"), nil, 0o600))
	sums, err := contractcheck.Sums(dir)
	require.NoError(t, err)
	differences := contractcheck.Differences(dir, sums)
	require.Len(t, differences, 1)
	require.Contains(t, differences[0], "gone.json")

	altered := filepath.Join(dir, "deeper", "a.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(altered), 0o755))
	require.NoError(t, os.WriteFile(altered, []byte("{}"), 0o600))
	copies, err := contractcheck.Copies(dir, sums)
	require.NoError(t, err)
	require.Equal(t, map[string]bool{filepath.Join(dir, "a.json"): true, altered: false}, copies)
	require.Len(t, contractcheck.Differences(filepath.Dir(altered), sums), 2)
}

func TestAFileThatIsNoListOfSumsIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, contractcheck.SumsFile), []byte("abc  a.json\n"), 0o600))
	_, err := contractcheck.Sums(dir)
	require.ErrorContains(t, err, "abc")
	_, err = contractcheck.Sums(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}
