package check

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheFirstStepThatFailsEndsTheRunAndSaysWhereToLook(t *testing.T) {
	t.Parallel()
	broken := errors.New("nobody answers")
	well := func(context.Context) (string, error) { return "three of three", nil }
	steps := []Step{
		{"all is there", "nowhere", well},
		{"it works", "the logs of it", func(context.Context) (string, error) { return "", broken }},
		{"never", "nowhere", func(context.Context) (string, error) { t.Error("it went on"); return "", nil }},
	}
	var out bytes.Buffer
	err := Run(t.Context(), &out, steps)
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "step 2 of 3, it works")
	require.Contains(t, out.String(), "three of three")
	require.Contains(t, out.String(), "FAILED")
	require.Contains(t, out.String(), "next: the logs of it")
	require.NotContains(t, out.String(), "hold")

	out.Reset()
	require.NoError(t, Run(t.Context(), &out, steps[:1]))
	require.Contains(t, out.String(), "all 1 steps hold")
}

func TestAWaitEndsWithTheLastThingThatWasSeen(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	wrong := errors.New("shard 3 has no owner")
	_, err := await(ctx, func(context.Context) (string, error) { cancel(); return "", wrong })
	require.ErrorIs(t, err, wrong)
	require.ErrorContains(t, err, "time is up")

	looks := 0
	seen, err := await(t.Context(), func(context.Context) (string, error) {
		looks++
		if looks < 3 {
			return "", wrong
		}
		return "all owned", nil
	})
	require.NoError(t, err)
	require.Equal(t, "all owned", seen)
}
