package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
)

// Format is how records lie in a file.
type Format string

// The formats.
const (
	// Auto stands for the format that the name of the file and its first line suggest.
	Auto Format = "auto"
	// NDJSON is one JSON object a line; blank lines are passed over.
	NDJSON Format = "ndjson"
	// CSV has a header of column names; a record may span lines in quotes.
	CSV Format = "csv"
	// Lines takes each line for a record, blank ones too.
	Lines Format = "lines"
)

// ParseFormat returns the format of that name, or ErrFormat.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case Auto, NDJSON, CSV, Lines:
		return f, nil
	default:
		return "", fmt.Errorf("%w: %q is none of auto, ndjson, csv and lines", ErrFormat, name)
	}
}

// detect returns the format of the file by its name, then by whether its first line is a
// JSON object.
func (s Source) detect() (Format, error) {
	switch strings.ToLower(filepath.Ext(s.Name)) {
	case ".ndjson", ".jsonl":
		return NDJSON, nil
	case ".csv":
		return CSV, nil
	}
	body, err := s.open()
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	for line, err := range lines(body) {
		if err != nil {
			return "", err
		}
		if text := bytes.TrimSpace(line.text); len(text) > 0 {
			if text[0] == '{' && json.Valid(text) {
				return NDJSON, nil
			}
			break
		}
	}
	return Lines, nil
}

func (s Source) parse(body io.Reader) iter.Seq2[Record, error] {
	switch s.format {
	case NDJSON:
		return parseNDJSON(body, s.key)
	case CSV:
		return parseCSV(body, s.key)
	case Lines:
		return parseLines(body, s.key)
	case Auto:
	}
	return func(yield func(Record, error) bool) {
		yield(Record{}, fmt.Errorf("%w: %q", ErrFormat, s.format))
	}
}
