package board

import (
	"errors"
	"fmt"
)

// Kind is how a panel looks.
type Kind string

// The kinds of panels.
const (
	KindStat  Kind = "stat"       // the newest value, large
	KindGraph Kind = "timeseries" // values over time
	KindTable Kind = "table"      // rows of the API
)

// Unit is what Grafana calls the unit of a number.
type Unit string

// The units in use.
const (
	Count     Unit = "short"
	Bytes     Unit = "bytes"
	Seconds   Unit = "s"
	Millis    Unit = "ms"
	PerSecond Unit = "cps"
	Requests  Unit = "reqps"
	Cores     Unit = "suffix: cores"
	Instant   Unit = "dateTimeAsIso"
	Text      Unit = "string"
)

// Unknown is shown where a value is not known.
const Unknown = "unknown"

// Panel is one panel. Stat, Graph and Table make them.
type Panel struct {
	Kind  Kind
	Title string
	// Says tells in a sentence what is seen, and what to think of it.
	Says string
	Unit Unit
	// Width is in columns of 24, Height in lines of about 30 pixels.
	Width, Height int
	// Asks is PromQL; a Table has Rows instead.
	Asks []Ask
	Rows *Rows
	// Warn and Bad colour values from there on; nil colours none.
	Warn, Bad *float64
	// Below tells that values below Bad are bad and not those above.
	Below bool
}

// Ask is a question to Prometheus, Legend the name of each series that it gives, with labels
// as {{label}}.
type Ask struct {
	Expr, Legend string
}

// Stat returns a panel with one number.
func Stat(title string, unit Unit, expr, says string) Panel {
	return Panel{Kind: KindStat, Title: title, Says: says, Unit: unit, Width: 4, Height: 4, Asks: []Ask{{Expr: expr}}}
}

// Graph returns a panel with lines over time.
func Graph(title string, unit Unit, says string, asks ...Ask) Panel {
	return Panel{Kind: KindGraph, Title: title, Says: says, Unit: unit, Width: 12, Height: 8, Asks: asks}
}

// Table returns a panel with rows of the API.
func Table(title, says string, rows Rows) Panel {
	return Panel{Kind: KindTable, Title: title, Says: says, Unit: Count, Width: columns, Height: 10, Rows: &rows}
}

// Wide returns the panel with another width and height.
func (p Panel) Wide(width, height int) Panel {
	p.Width, p.Height = width, height
	return p
}

// From returns the panel with values coloured from warn and from bad on.
func (p Panel) From(warn, bad float64) Panel {
	p.Warn, p.Bad = &warn, &bad
	return p
}

// Under returns the panel with values below limit coloured as bad.
func (p Panel) Under(limit float64) Panel {
	p.Bad, p.Below = &limit, true
	return p
}

func (p Panel) check() error {
	switch {
	case p.Title == "" || p.Says == "" || p.Unit == "":
		return fmt.Errorf("panel %q: title, sentence and unit are required", p.Title)
	case p.Width < 1 || p.Width > columns || p.Height < 1:
		return fmt.Errorf("panel %q: a width of %d columns does not fit", p.Title, p.Width)
	case (p.Kind == KindTable) != (p.Rows != nil), (p.Kind == KindTable) == (len(p.Asks) > 0):
		return fmt.Errorf("panel %q: a table has rows, the others ask Prometheus", p.Title)
	case p.Rows != nil:
		return p.Rows.check()
	}
	for _, ask := range p.Asks {
		if ask.Expr == "" || (p.Kind == KindGraph && ask.Legend == "") {
			return fmt.Errorf("panel %q: a question has an expression, and a legend in a graph", p.Title)
		}
	}
	return nil
}

// object writes the panel without its place.
func (p Panel) object() object {
	source, targets := prometheusSource(), make([]object, 0, len(p.Asks))
	for i, ask := range p.Asks {
		targets = append(targets, object{
			"refId": string(rune('A' + i)), "datasource": source, "expr": ask.Expr, "editorMode": "code",
			"legendFormat": ask.Legend, "range": p.Kind == KindGraph, "instant": p.Kind != KindGraph,
		})
	}
	overrides := []object{}
	if p.Rows != nil {
		source, targets, overrides = apiSource(), []object{p.Rows.query()}, p.Rows.overrides()
	}
	return object{
		"type": p.Kind, "title": p.Title, "description": p.Says, "datasource": source, "targets": targets,
		"options":     p.options(),
		"fieldConfig": object{"defaults": p.defaults(), "overrides": overrides},
	}
}

// errRows comes where rows are incomplete.
var errRows = errors.New("rows have a path and named columns")
