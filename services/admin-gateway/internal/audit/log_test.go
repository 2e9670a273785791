package audit

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// disk is a file on a disk that is full at times: it takes so many bytes more.
type disk struct {
	bytes.Buffer

	room int // below 0 is without end
}

var errFullDisk = errors.New("no space left")

func (d *disk) Write(text []byte) (int, error) {
	if d.room >= 0 && len(text) > d.room {
		n, _ := d.Buffer.Write(text[:d.room])
		d.room = 0
		return n, errFullDisk
	}
	return d.Buffer.Write(text)
}

func (d *disk) records(t *testing.T) []protocol.AuditRecord {
	t.Helper()
	var records []protocol.AuditRecord
	for line := range bytes.Lines(d.Bytes()) {
		record, found, err := audit.ParseLine(line)
		if found && err == nil {
			records = append(records, record)
		}
	}
	return records
}

func TestALogHasAChainOfItsOwnForEachRun(t *testing.T) {
	t.Parallel()
	file := &disk{room: -1}
	first := NewLog(file, "gateway-1")
	write(t, first, "1", "2")
	write(t, NewLog(file, "gateway-1"), "3")
	write(t, first, "4")
	records := file.records(t)
	require.Len(t, records, 4)
	require.Empty(t, faults(audit.Verify(records, nil)))
	require.NotEqual(t, records[0].Chain, records[2].Chain)
	require.Equal(t, records[0].Chain, records[3].Chain)
}

func TestALineThatWasWrittenInPartDamagesNoOther(t *testing.T) {
	t.Parallel()
	for _, room := range []int{0, 1, 40, 300} {
		file := &disk{room: -1}
		sink := NewLog(file, "gateway-1")
		write(t, sink, "1")
		file.room = room
		require.ErrorIs(t, sink.Append(t.Context(), note("2")), errFullDisk)
		require.ErrorIs(t, sink.Append(t.Context(), note("2")), errFullDisk)
		file.room = -1
		write(t, sink, "2", "3")
		records := file.records(t)
		require.Len(t, records, 3, room)
		require.Empty(t, faults(audit.Verify(records, nil)))
	}
}

func TestALineThatLacksItsBreakOnlyIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	file := &disk{room: -1}
	sink := NewLog(file, "gateway-1")
	write(t, sink, "1")
	file.room = file.Len() + 64 - 1 // the next line has the hash of the one before in it
	require.NoError(t, sink.Append(t.Context(), note("2")))
	require.True(t, bytes.HasSuffix(file.Bytes(), []byte("}}")))
	file.room = -1
	write(t, sink, "3")
	require.Len(t, file.records(t), 3)
	require.Empty(t, faults(audit.Verify(file.records(t), nil)))
}

func TestLinesOfParallelRequestsDoNotMix(t *testing.T) {
	t.Parallel()
	file := &disk{room: -1}
	sink := NewLog(file, "gateway-1")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				_ = sink.Append(t.Context(), note("x"))
			}
		})
	}
	group.Wait()
	records := file.records(t)
	require.Len(t, records, 400)
	require.Empty(t, faults(audit.Verify(records, nil)))
}
