package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
)

type withShare struct {
	Share float64 `koanf:"share" usage:"a share"`
}

func (withShare) Validate() error { return nil }

func TestFractionsAreReadFromEveryLayer(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]float64{"0.25": 0.25, "1": 1, "0": 0, "1e-3": 0.001} {
		got, err := config.Load(withShare{Share: 0.5}, config.Source{Environ: []string{"RSC_SHARE=" + given}})
		require.NoError(t, err)
		require.InDelta(t, want, got.Share, 1e-12)
	}
	got, err := config.Load(withShare{}, config.Source{File: file(t, "coordinator: {share: 0.75}")})
	require.NoError(t, err)
	require.InDelta(t, 0.75, got.Share, 1e-12)
	var printed strings.Builder
	require.NoError(t, config.Print(&printed, got))
	require.Contains(t, printed.String(), "0.75")

	for _, wrong := range []string{"half", "0,5", "NaN", "Inf", "10%", ""} {
		got, err := config.Load(withShare{Share: 0.5}, config.Source{Environ: []string{"RSC_SHARE=" + wrong}})
		require.ErrorContains(t, err, "share must be a number such as 0.25", "%q", wrong)
		require.InDelta(t, 0.5, got.Share, 1e-12)
	}
}
