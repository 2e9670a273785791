package show

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// gap is what stands between two columns.
const gap = "   "

// Page is text for people. It escapes what it is given and keeps the first error of its
// writer.
type Page struct {
	w      io.Writer
	colour bool
	err    error
}

// NewPage returns a Page on w, with colours where colour is set.
func NewPage(w io.Writer, colour bool) *Page { return &Page{w: w, colour: colour} }

// Err returns the first error of the writer.
func (p *Page) Err() error {
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("print: %w", p.err)
}

// Line prints one line.
func (p *Page) Line(format string, args ...any) { p.put(Text(fmt.Sprintf(format, args...)) + "\n") }

// Cut prints one line of at most so many columns, with … for the rest; 0 prints it whole.
func (p *Page) Cut(columns int, line string) {
	line = Text(line)
	if columns > 0 && width(line) > columns {
		line = string([]rune(line)[:columns-1]) + "…"
	}
	p.put(line + "\n")
}

// Blank prints an empty line.
func (p *Page) Blank() { p.put("\n") }

// Clear empties the screen of a terminal and begins at its top.
func (p *Page) Clear() { p.put("\x1b[H\x1b[J") }

// Fields prints names and values in turns, one pair a line, the values below each other.
func (p *Page) Fields(pairs ...string) {
	widest := 0
	for i := 0; i < len(pairs); i += 2 {
		widest = max(widest, width(pairs[i]))
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		p.put(p.paint(faint, pad(pairs[i]+":", widest+1)) + "  " + p.cell(Text(pairs[i+1]), 0) + "\n")
	}
}

// Table prints rows under their heads; it prints empty instead when there are no rows.
func (p *Page) Table(heads []string, rows [][]string, empty string) {
	if len(rows) == 0 {
		p.Line("%s", empty)
		return
	}
	widths := make([]int, len(heads))
	for column, head := range heads {
		widths[column] = width(Text(head))
	}
	shown := make([][]string, len(rows))
	for i, row := range rows {
		for column, text := range row {
			shown[i] = append(shown[i], Text(text))
			widths[column] = max(widths[column], width(shown[i][column]))
		}
	}
	widths[len(widths)-1] = 0 // no blanks at the end of a line
	line := make([]string, len(heads))
	for column, head := range heads {
		line[column] = p.paint(faint, pad(Text(head), widths[column]))
	}
	p.put(strings.Join(line, gap) + "\n")
	for _, row := range shown {
		for column, text := range row {
			line[column] = p.cell(text, widths[column])
		}
		p.put(strings.Join(line, gap) + "\n")
	}
}

func (p *Page) cell(text string, wide int) string { return p.paint(toneOf(text), pad(text, wide)) }

func (p *Page) put(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}
}

func width(text string) int { return utf8.RuneCountInString(text) }

func pad(text string, wide int) string { return text + strings.Repeat(" ", max(0, wide-width(text))) }
