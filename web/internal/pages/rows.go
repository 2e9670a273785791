package pages

import (
	"crypto/sha256"
	"strings"
)

// digest tells contents apart.
type digest [sha256.Size]byte

// shape is what was sent of a piece: its rows, and what is around them.
type shape struct {
	around digest
	rows   []digest
}

// rowNews is a row that has changed, by its place among all of its piece.
type rowNews struct {
	At   int    `json:"at"`
	HTML string `json:"html"`
}

const rowBegins, rowEnds = "<tr", "</tr>"

// shapeOf returns the shape of a piece, with its rows. Values are escaped, so that only a row
// looks like one; there are no tables in tables.
func shapeOf(html string) (shape, []string) {
	var around strings.Builder
	var rows []string
	for {
		from := strings.Index(html, rowBegins)
		if from < 0 {
			break
		}
		length := strings.Index(html[from:], rowEnds)
		if length < 0 {
			break
		}
		to := from + length + len(rowEnds)
		around.WriteString(html[:from] + rowBegins)
		rows, html = append(rows, html[from:to]), html[to:]
	}
	around.WriteString(html)
	made := shape{around: sha256.Sum256([]byte(around.String())), rows: make([]digest, len(rows))}
	for i, row := range rows {
		made.rows[i] = sha256.Sum256([]byte(row))
	}
	return made, rows
}

// changed returns the rows that differ from before, and whether nothing else does.
func (s shape) changed(before shape, rows []string) (news []rowNews, only bool) {
	if s.around != before.around || len(s.rows) != len(before.rows) {
		return nil, false
	}
	for i, row := range s.rows {
		if row != before.rows[i] {
			news = append(news, rowNews{i, rows[i]})
		}
	}
	return news, true
}
