package model

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// recordID is the id of a record: the milliseconds of its time, and a number within them.
type recordID struct{ ms, seq uint64 }

// parseRecordID reads an id such as 1700000000000-0.
func parseRecordID(text string) (recordID, bool) {
	first, second, _ := strings.Cut(text, "-")
	ms, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		return recordID{}, false
	}
	seq, err := strconv.ParseUint(second, 10, 64)
	return recordID{ms, seq}, err == nil
}

func (id recordID) text() string {
	return strconv.FormatUint(id.ms, 10) + "-" + strconv.FormatUint(id.seq, 10)
}

// cursorAt returns the cursor of a page that begins with the record of an id, if there is one,
// and goes on from there: an id is a cursor, after which a page begins (monitoring, APIs). It is
// empty where the page begins at the end that the direction comes from.
func (id recordID) cursorAt(forward bool) string {
	switch {
	case forward && id == recordID{}, !forward && id == recordID{math.MaxUint64, math.MaxUint64}:
		return ""
	case forward && id.seq == 0:
		return recordID{id.ms - 1, math.MaxUint64}.text()
	case forward:
		return recordID{id.ms, id.seq - 1}.text()
	case id.seq == math.MaxUint64:
		return recordID{id.ms + 1, 0}.text()
	default:
		return recordID{id.ms, id.seq + 1}.text()
	}
}

// cursorOf returns the cursor of a page that begins at a time, whose records are all on it. The
// time is as a form sends it, in UTC; one that is none, or before 1970, tells false.
func cursorOf(at string, forward bool) (string, bool) {
	at = strings.TrimSuffix(at, "Z")
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		when, err := time.Parse(layout, at)
		if err != nil || when.UnixMilli() < 0 {
			continue
		}
		id := recordID{ms: uint64(when.UnixMilli())}
		if !forward {
			id.seq = math.MaxUint64
		}
		return id.cursorAt(forward), true
	}
	return "", false
}
