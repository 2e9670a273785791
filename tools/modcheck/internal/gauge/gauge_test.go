package gauge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/gauge"
	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/source"
)

// reading returns the one whose name starts with prefix.
func reading(t *testing.T, readings []gauge.Reading, prefix string) gauge.Reading {
	t.Helper()
	for _, reading := range readings {
		if strings.HasPrefix(reading.Name, prefix) {
			return reading
		}
	}
	require.Fail(t, "no such reading", prefix)
	return gauge.Reading{}
}

// sized returns source files of these lengths.
func sized(lengths ...int) []source.File {
	var files []source.File
	for _, lines := range lengths {
		files = append(files, source.File{Path: "a/a.go", Package: "a", Lines: lines})
	}
	return files
}

func TestTheMedianMayBeAtItsBoundAndNotAbove(t *testing.T) {
	t.Parallel()
	kept := reading(t, gauge.Sizes(sized(10, 160, 399)), "median")
	require.True(t, kept.OK)
	require.Equal(t, "160", kept.Measured)
	require.False(t, reading(t, gauge.Sizes(sized(10, 161, 399)), "median").OK)
}

func TestP90LooksAtTheLongestTenth(t *testing.T) {
	t.Parallel()
	require.True(t, reading(t, gauge.Sizes(sized(1, 1, 1, 1, 1, 1, 1, 1, 400, 900)), "p90").OK)
	require.False(t, reading(t, gauge.Sizes(sized(1, 1, 1, 1, 1, 1, 1, 1, 401, 900)), "p90").OK)
}

func TestTheMedianLeavesTestsOut(t *testing.T) {
	t.Parallel()
	files := append(sized(10), source.File{Path: "a/a_test.go", Package: "a", Lines: 450}, source.File{Path: "a/b_test.go", Package: "a", Lines: 450})
	require.Equal(t, "10", reading(t, gauge.Sizes(files), "median").Measured)
}

func TestTheWallStandsForTestsToo(t *testing.T) {
	t.Parallel()
	files := []source.File{{Path: "a/a_test.go", Package: "a", Lines: 800, CodeLines: 501}, {Path: "a/a.go", Package: "a", Lines: 900, CodeLines: 500}}
	walled := reading(t, gauge.Sizes(files), "files over 500")
	require.False(t, walled.OK)
	require.Equal(t, []string{"a/a_test.go: 501 code lines"}, walled.Faults)
}

func TestOneFunctionInAHundredMayBeLong(t *testing.T) {
	t.Parallel()
	functions := make([]source.Function, 100)
	functions[7] = source.Function{Name: "F", Line: 3, Lines: 81}
	functions[8] = source.Function{Name: "G", Lines: 80}
	file := source.File{Path: "a/a.go", Package: "a", Functions: functions}
	require.True(t, reading(t, gauge.Sizes([]source.File{file}), "functions").OK)
	file.Functions = functions[:99]
	long := reading(t, gauge.Sizes([]source.File{file}), "functions")
	require.False(t, long.OK)
	require.Equal(t, []string{"a/a.go:3: F has 81 lines"}, long.Faults)
}

func TestOneCommentedFileDocumentsItsPackage(t *testing.T) {
	t.Parallel()
	files := []source.File{
		{Path: "a/a.go", Package: "a"},
		{Path: "a/doc.go", Package: "a", PackageComment: true},
		{Path: "b/b_test.go", Package: "b_test"},
		{Path: "c/storetest/c.go", Package: "storetest", PackageComment: true},
	}
	require.True(t, reading(t, gauge.Comments(files), "packages").OK)
	files = append(files, source.File{Path: "d/d.go", Package: "d"}, source.File{Path: "d/d_test.go", Package: "d", PackageComment: true})
	bare := reading(t, gauge.Comments(files), "packages")
	require.False(t, bare.OK)
	require.Equal(t, []string{"d"}, bare.Faults)
	require.Equal(t, "66.7 % (2 of 3)", bare.Measured)
}

func TestNineteenOfTwentyExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	names := make([]source.Name, 20)
	for i := range names {
		names[i] = source.Name{Name: "N", Line: i, Documented: i > 0}
	}
	file := source.File{Path: "a/a.go", Exported: names}
	require.True(t, reading(t, gauge.Comments([]source.File{file}), "exported").OK)
	file.Exported = names[:19]
	bare := reading(t, gauge.Comments([]source.File{file}), "exported")
	require.False(t, bare.OK)
	require.Equal(t, []string{"a/a.go:0: N"}, bare.Faults)
}

func TestTenNolintsAreTheMost(t *testing.T) {
	t.Parallel()
	file := source.File{Path: "a/a_test.go", Nolints: make([]int, 10)}
	require.True(t, reading(t, gauge.Comments([]source.File{file}), "nolint").OK)
	file.Nolints = make([]int, 11)
	require.False(t, reading(t, gauge.Comments([]source.File{file}), "nolint").OK)
}

// core returns a core that keeps everything, for tests to spoil.
func core() []source.File {
	return []source.File{
		{Path: "group/group.go", Package: "group", Lines: 100, Imports: []string{"time", "slices", "iota/os"}},
		{Path: "group/group_test.go", Package: "group_test", Lines: 110, Imports: []string{"os", "context"}, ClockReads: []int{4}},
		{Path: "groupother/x.go", Package: "groupother", Lines: 900, Imports: []string{"os"}, ClockReads: []int{1}},
	}
}

func TestACoreThatIsPureAndTestedPasses(t *testing.T) {
	t.Parallel()
	for _, reading := range gauge.Core(core(), []string{"group"}) {
		require.True(t, reading.OK, reading)
	}
}

func TestACoreThatIsNotThereFails(t *testing.T) {
	t.Parallel()
	missing := reading(t, gauge.Core(core(), []string{"group", "assign"}), "core packages")
	require.False(t, missing.OK)
	require.Equal(t, []string{"assign has no source"}, missing.Faults)
}

func TestAClockReadInTheCoreFails(t *testing.T) {
	t.Parallel()
	files := core()
	files[0].ClockReads = []int{12}
	clock := reading(t, gauge.Core(files, []string{"group"}), "clock reads")
	require.False(t, clock.OK)
	require.Equal(t, []string{"group/group.go:12"}, clock.Faults)
}

func TestAnImpureImportInTheCoreFails(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"context", "log", "log/slog", "math/rand", "math/rand/v2", "net/http", "sync/atomic", "example.com/libs/clock"} {
		files := core()
		files[0].Imports = []string{path}
		impure := reading(t, gauge.Core(files, []string{"group"}), "impure")
		require.False(t, impure.OK, path)
		require.Equal(t, []string{"group/group.go: imports " + path}, impure.Faults)
	}
}

func TestTheCoreHasMoreTestsThanSource(t *testing.T) {
	t.Parallel()
	files := core()
	files[1].Lines = 109
	share := reading(t, gauge.Core(files, []string{"group"}), "test lines")
	require.False(t, share.OK)
	require.Equal(t, "1.09 (109 to 100)", share.Measured)
	require.Equal(t, []string{"group: 109 lines of tests to 100"}, share.Faults)
}

func TestTheExplorationOfTheCoreCountsAsTests(t *testing.T) {
	t.Parallel()
	files := core()
	files[1].Lines, files[1].Path = 120, "group/explore/walk.go"
	share := reading(t, gauge.Core(files, []string{"group"}), "test lines")
	require.True(t, share.OK)
	require.Equal(t, "1.20 (120 to 100)", share.Measured)
}

func TestAnEmptyTreeHasNothingTooBig(t *testing.T) {
	t.Parallel()
	for _, reading := range append(gauge.Sizes(nil), gauge.Comments(nil)...) {
		require.True(t, reading.OK, reading)
	}
}
