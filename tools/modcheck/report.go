package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/gauge"
)

// report prints the table, and after it the places behind each number that is not kept.
func report(out io.Writer, readings []gauge.Reading) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "number\tbound\tmeasured\tok")
	for _, reading := range readings {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", reading.Name, reading.Bound, reading.Measured, verdict(reading))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	for _, reading := range readings {
		if !reading.OK {
			faults(out, reading)
		}
	}
	return nil
}

func verdict(reading gauge.Reading) string {
	if reading.OK {
		return "yes"
	}
	return "NO"
}

func faults(out io.Writer, reading gauge.Reading) {
	fmt.Fprintf(out, "\n%s:\n", reading.Name)
	shown := min(len(reading.Faults), maxFaults)
	for _, fault := range reading.Faults[:shown] {
		fmt.Fprintf(out, "  %s\n", fault)
	}
	if hidden := len(reading.Faults) - shown; hidden > 0 {
		fmt.Fprintf(out, "  and %d more\n", hidden)
	}
}
