package source

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// parseCSV takes the column of that name for the key. Rows may be shorter or longer than
// the header; one that does not reach the column has the empty key. The data of a record is
// its row, written as CSV again.
func parseCSV(body io.Reader, key string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		reader := csv.NewReader(body)
		reader.FieldsPerRecord, reader.ReuseRecord = -1, true
		column, err := header(reader, key)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			yield(Record{}, err)
			return
		}
		for seq := int64(1); ; seq++ {
			row, err := reader.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Record{}, fmt.Errorf("%w: %w", ErrFormat, err))
				return
			}
			record, err := csvRecord(row, seq, column)
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// header reads the names of the columns and returns the place of key among them, or -1
// when key is empty.
func header(reader *csv.Reader, key string) (int, error) {
	names, err := reader.Read()
	if err != nil {
		return 0, err
	}
	names[0] = string(bytes.TrimPrefix([]byte(names[0]), []byte("\ufeff")))
	if key == "" {
		return -1, nil
	}
	column := slices.Index(names, key)
	if column < 0 {
		return 0, fmt.Errorf("%w: the header %q has no column %q", ErrNoKey, names, key)
	}
	return column, nil
}

func csvRecord(row []string, seq int64, column int) (Record, error) {
	var text bytes.Buffer
	writer := csv.NewWriter(&text)
	if err := writer.Write(row); err != nil {
		return Record{}, fmt.Errorf("record %d: %w", seq, err)
	}
	writer.Flush()
	record := Record{Seq: seq, Data: string(bytes.TrimSuffix(text.Bytes(), []byte("\n")))}
	switch {
	case column < 0:
		record.Key = bucket(record.Data)
	case column < len(row):
		record.Key = row[column]
	}
	return record, nil
}
