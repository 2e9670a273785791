package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/proof"
)

// print prints a report.
func (p Process) print(r *proof.Report, asJSON bool) error {
	var err error
	if asJSON {
		encoder := json.NewEncoder(p.Out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(struct {
			Holds bool `json:"holds"`
			*proof.Report
		}{r.Holds(), r})
	} else {
		_, err = p.Out.Write([]byte(text(r)))
	}
	if err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	return nil
}

func text(r *proof.Report) string {
	var b strings.Builder
	row := func(name string, count int64, note string, args ...any) {
		fmt.Fprintf(&b, "%-14s %12s", name, grouped(count))
		if note != "" {
			fmt.Fprintf(&b, "   "+note, args...)
		}
		b.WriteByte('\n')
	}
	row("records", r.Records, "")
	row("published", r.Published, "%s uncertain and %s refused attempts repeated", grouped(r.Uncertain), grouped(r.Refused))
	for _, cause := range slices.Sorted(maps.Keys(r.Causes)) {
		fmt.Fprintf(&b, "%27s   %s %s\n", "", cause, grouped(r.Causes[cause]))
	}
	row("handled", r.Handled, "in %s handlings", grouped(r.Handlings))
	row("lost", r.Lost, "")
	row("duplicates", r.Duplicates.Total, "%s of killed consumers, %s published twice, %s other",
		grouped(r.Duplicates.Killed), grouped(r.Duplicates.Republished), grouped(r.Duplicates.Other))
	row("keys", r.Keys, "%s out of order", grouped(r.OutOfOrderKeys))
	row("strangers", r.Strangers, "%s altered", grouped(r.Altered))
	row("double readers", r.DoubleReaders, "%s stale tokens", grouped(r.StaleTokens))
	row("consumers", r.Consumers, "%s killed, %s shards changed hands", grouped(r.Killed), grouped(r.Moves))
	fmt.Fprintf(&b, "%-14s %12.1f   %s records a second\n", "seconds", r.Seconds, grouped(int64(r.RecordsPerSecond)))
	for _, fault := range r.Faults {
		fmt.Fprintf(&b, "! %s\n", fault)
	}
	if r.Holds() {
		b.WriteString("The proof holds.\n")
	} else {
		b.WriteString("The proof does not hold.\n")
	}
	return b.String()
}

// grouped writes a number with commas.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
