package query

import (
	"encoding/json"
	"fmt"
	"strings"
)

// file is the part of a dashboard that is read.
type file struct {
	UID        string `json:"uid"`
	Title      string `json:"title"`
	Templating struct {
		List []choice `json:"list"`
	} `json:"templating"`
	Panels []panel `json:"panels"`
}

type source struct {
	UID string `json:"uid"`
}

type panel struct {
	Title      string   `json:"title"`
	Datasource source   `json:"datasource"`
	Targets    []target `json:"targets"`
	Panels     []panel  `json:"panels"` // of a row that is folded
}

type target struct {
	Datasource source  `json:"datasource"`
	Expr       string  `json:"expr"`
	URL        string  `json:"url"`
	Columns    []field `json:"columns"`
}

type field struct {
	Selector string `json:"selector"`
	Type     string `json:"type"`
}

type choice struct {
	Name       string          `json:"name"`
	Type       string          `json:"type"`
	AllValue   string          `json:"allValue"`
	Datasource source          `json:"datasource"`
	Query      json.RawMessage `json:"query"`
	Current    struct {
		Value json.RawMessage `json:"value"`
	} `json:"current"`
}

// collect adds what panels ask, those of folded rows too.
func (f file) collect(panels []panel, out *Dashboard) {
	for _, p := range panels {
		if p.Datasource.UID != "" {
			out.Sources = append(out.Sources, p.Datasource.UID)
		}
		for _, t := range p.Targets {
			out.Sources = append(out.Sources, t.Datasource.UID)
			if t.Expr != "" {
				out.Expressions = append(out.Expressions, Expression{Dashboard: f.UID, Panel: p.Title, Text: t.Expr})
			}
			if t.URL != "" {
				out.Requests = append(out.Requests, *t.request(f.UID, p.Title))
			}
		}
		f.collect(p.Panels, out)
	}
}

func (t target) request(dashboard, panel string) *Request {
	made := &Request{Dashboard: dashboard, Panel: panel, Path: t.URL}
	for _, one := range t.Columns {
		made.Columns = append(made.Columns, Column{Field: one.Selector, Type: one.Type})
	}
	return made
}

// variable reads a choice. What fills it is a text for Prometheus, or an object.
func (c choice) variable(dashboard string) (Variable, error) {
	made := Variable{Name: c.Name, Kind: c.Type, All: c.AllValue}
	_ = json.Unmarshal(c.Current.Value, &made.Current) // several values are a list, and none of ours
	if c.Type != "query" {
		return made, nil
	}
	var query struct {
		Query    string  `json:"query"`
		Infinity *target `json:"infinityQuery"`
	}
	if err := json.Unmarshal(c.Query, &query); err != nil {
		return Variable{}, fmt.Errorf("variable %s: %w", c.Name, err)
	}
	if query.Infinity != nil {
		made.Options = query.Infinity.request(dashboard, "$"+c.Name)
		return made, nil
	}
	made.Expression = labelled(query.Query)
	return made, nil
}

// labelled returns the series of label_values(series, label), or the text as it is.
func labelled(text string) string {
	inner, is := strings.CutPrefix(text, "label_values(")
	if at := strings.LastIndex(inner, ","); is && at > 0 {
		return strings.TrimSpace(inner[:at])
	}
	return text
}
