// Package source turns a file, or a seeded generator, into numbered records with keys.
//
// A record is a line of JSON (NDJSON), a row of a CSV file with a header, or simply a
// line. Its number is its place among the records of the source, counted from 1: together
// with its key it is what the proof is about.
package source

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// MaxRecord is the longest record in bytes.
const MaxRecord = 16 << 20

// Errors of sources. They come with the number of the line where there is one.
var (
	// ErrNoKey comes when the first record has no field, or the header no column, of the
	// name that should be the key; or when the key of a line is not the number of a word.
	ErrNoKey = errors.New("no such key")
	// ErrFormat comes for an unknown format, and for content that is not in the format.
	ErrFormat = errors.New("not in the format")
)

// Record is one record.
type Record struct {
	// Seq is the number of the record in its source, from 1.
	Seq int64
	// Key is the partition key.
	Key string
	// Data is the record as it stands in the source, without its line end.
	Data string
}

// Source is where records come from. The zero value is of no use: take File or Generated.
type Source struct {
	// Name is shown to people.
	Name string

	format Format
	key    string
	open   func() (io.ReadCloser, error)
}

// Summary is what a Source holds.
type Summary struct {
	Records, Keys, Bytes int64
	// SHA256 is that of all bytes, as hexadecimal digits.
	SHA256 string
}

// File returns the records of the file at path. The format Auto looks at the name and the
// first line. The key names a field (NDJSON) or a column (CSV), or is the number of a word
// (lines, from 1); without one records are spread over Buckets keys by their text.
func File(path string, format Format, key string) (Source, error) {
	src := Source{Name: path, format: format, key: key, open: func() (io.ReadCloser, error) { return os.Open(path) }}
	if format == Auto {
		found, err := src.detect()
		if err != nil {
			return Source{}, fmt.Errorf("find the format of %s: %w", path, err)
		}
		src.format = found
	}
	return src, nil
}

// Format returns the format in which the source is read.
func (s Source) Format() Format { return s.format }

// Records returns the records in their order; an error ends them. It can be called again.
func (s Source) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		body, err := s.open()
		if err != nil {
			yield(Record{}, fmt.Errorf("open %s: %w", s.Name, err))
			return
		}
		defer func() { _ = body.Close() }()
		for record, err := range s.parse(body) {
			if err != nil {
				err = fmt.Errorf("read %s: %w", s.Name, err)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// After returns the records with their numbers raised by offset, for a second source that
// is published beside a first one.
func After(offset int64, records iter.Seq2[Record, error]) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for record, err := range records {
			record.Seq += offset
			if !yield(record, err) {
				return
			}
		}
	}
}

// Scan reads the source once and tells what is in it.
func (s Source) Scan() (Summary, error) {
	body, err := s.open()
	if err != nil {
		return Summary{}, fmt.Errorf("open %s: %w", s.Name, err)
	}
	defer func() { _ = body.Close() }()
	var sum Summary
	hash := sha256.New()
	counted := io.TeeReader(body, io.MultiWriter(hash, (*counter)(&sum.Bytes)))
	keys := map[string]struct{}{}
	for record, err := range s.parse(counted) {
		if err != nil {
			return Summary{}, fmt.Errorf("read %s: %w", s.Name, err)
		}
		sum.Records++
		keys[record.Key] = struct{}{}
	}
	sum.Keys, sum.SHA256 = int64(len(keys)), hex.EncodeToString(hash.Sum(nil))
	return sum, nil
}

// counter counts the bytes written to it.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
