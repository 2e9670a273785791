package feed

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/source"
)

// diary is a pausable that notes what it is told.
type diary struct {
	told    []string
	refresh error
}

func (d *diary) Pause(context.Context) error {
	d.told = append(d.told, "pause")
	return nil
}

func (d *diary) Refresh(context.Context) error {
	d.told = append(d.told, "refresh")
	return d.refresh
}

func (d *diary) Resume() { d.told = append(d.told, "resume") }

func TestOrdersAreCarriedOutInTurnAndAnswered(t *testing.T) {
	t.Parallel()
	p := diary{refresh: errors.New("nobody there")}
	var answers bytes.Buffer
	obey(t.Context(), strings.NewReader("pause\nrefresh\nresume\nstop\npause\n"), &answers, &p)
	require.Equal(t, []string{"pause", "refresh", "resume", "pause", "resume"}, p.told, "resumed at the end")
	require.Equal(t, "pause\nrefresh: nobody there\nresume\n"+
		"stop: an order is one of pause, refresh and resume\npause\n", answers.String())
}

func TestTheEndOfTheOrdersEndsTheRecords(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	count := 0
	for record, err := range until(stop, source.Generated(100, 1).Records()) {
		require.NoError(t, err)
		if count++; record.Seq == 7 {
			close(stop)
		}
	}
	require.Equal(t, 7, count)
}
