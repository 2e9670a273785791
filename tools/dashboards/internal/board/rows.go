package board

import (
	"fmt"
	"strings"
)

// Rows are what an endpoint of the API answers: a JSON array of flat objects.
type Rows struct {
	// Path is that of the endpoint with its query, without host; variables in it are written
	// with Encoded.
	Path    string
	Columns []Column
}

// Column is a field of the rows.
type Column struct {
	// Field is its name in the JSON, Title that in the table.
	Field, Title string
	// Unit says what it is: Text, Instant, or the unit of a number.
	Unit Unit
	// Link is an address without host that the cell leads to; empty is none.
	Link string
	// Empty is shown where the value is null; empty means Unknown.
	Empty string
}

// Encoded is a variable as a query takes it.
func Encoded(variable string) string { return "${" + variable + ":percentencode}" }

func (r Rows) check() error {
	if !strings.HasPrefix(r.Path, "/") || len(r.Columns) == 0 {
		return errRows
	}
	for _, column := range r.Columns {
		if column.Field == "" || column.Title == "" || column.Unit == "" {
			return fmt.Errorf("column %q of %s: %w", column.Field, r.Path, errRows)
		}
	}
	return nil
}

// query asks the Infinity data source, in Grafana's server and not in the browser.
func (r Rows) query() object {
	columns := make([]object, len(r.Columns))
	for i, column := range r.Columns {
		columns[i] = object{"selector": column.Field, "text": column.Title, "type": column.kind()}
	}
	return object{
		"refId": "A", "datasource": apiSource(), "type": "json", "source": "url", "parser": "backend", "format": "table",
		"root_selector": "", "url": r.Path, "url_options": object{"method": "GET", "data": ""},
		"columns": columns, "filters": []object{}, "computed_columns": []object{},
	}
}

// kind is what Infinity reads the field as.
func (c Column) kind() string {
	if c.Unit == Text {
		return "string"
	}
	if c.Unit == Instant {
		return "timestamp"
	}
	return "number"
}

// overrides give each column its unit, link and word for nothing.
func (r Rows) overrides() []object {
	overrides := make([]object, len(r.Columns))
	for i, column := range r.Columns {
		properties := []object{{"id": "unit", "value": column.Unit}}
		if column.Empty != "" {
			properties = append(properties, object{"id": "noValue", "value": column.Empty}, object{"id": "mappings", "value": []object{{
				"type": "special", "options": object{"match": "null", "result": object{"text": column.Empty, "index": 0}},
			}}})
		}
		if column.Link != "" {
			properties = append(properties, object{"id": "links", "value": []object{{
				"title": "Show", "url": column.Link, "targetBlank": false,
			}}})
		}
		overrides[i] = object{"matcher": object{"id": "byName", "options": column.Title}, "properties": properties}
	}
	return overrides
}
