// Package query reads what dashboards ask: the PromQL of their panels and the requests to the
// API, with the columns that are selected of the answers. It reads the files as Grafana does,
// however they were made.
package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Expression is PromQL as a dashboard has it, with its variables.
type Expression struct {
	Dashboard, Panel string
	Text             string
}

// Column is a field that a request selects of each row.
type Column struct {
	Field string
	// Type is string, number or timestamp.
	Type string
}

// Request is a GET of a path of the API, with variables in it, that answers an array of rows.
type Request struct {
	Dashboard, Panel string
	Path             string
	Columns          []Column
}

// Variable is a choice at the head of a dashboard.
type Variable struct {
	Name string
	// Kind is what Grafana calls the type: datasource, query, custom or textbox.
	Kind string
	// Options are what fills it from the API, nil where that does not.
	Options *Request
	// Expression is what fills it from Prometheus, empty where that does not.
	Expression string
	// All is what its entry for all stands for, empty without one.
	All string
	// Current is the value that is preset, empty where there is none.
	Current string
}

// Dashboard is what one dashboard asks.
type Dashboard struct {
	UID, Title  string
	Variables   []Variable
	Expressions []Expression
	Requests    []Request
	// Sources are the uids of data sources that panels, questions and variables name.
	Sources []string
}

// Read reads all dashboards of a directory, in the order of the names of their files.
func Read(dir string) ([]Dashboard, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list dashboards: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("list dashboards: none in %s: %w", dir, os.ErrNotExist)
	}
	var found []Dashboard
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read dashboard: %w", err)
		}
		one, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("read dashboard %s: %w", filepath.Base(file), err)
		}
		found = append(found, one)
	}
	return found, nil
}

// Expressions reads the PromQL of all dashboards of a directory, that of variables included.
func Expressions(dir string) ([]Expression, error) {
	dashboards, err := Read(dir)
	if err != nil {
		return nil, err
	}
	var all []Expression
	for _, one := range dashboards {
		all = append(all, one.Expressions...)
		for _, variable := range one.Variables {
			if variable.Expression != "" {
				all = append(all, Expression{Dashboard: one.UID, Panel: "$" + variable.Name, Text: variable.Expression})
			}
		}
	}
	return all, nil
}

// errNoUID comes where a file is no dashboard.
var errNoUID = errors.New("it has no uid")

// Parse reads one dashboard.
func Parse(text []byte) (Dashboard, error) {
	var in file
	if err := json.Unmarshal(text, &in); err != nil {
		return Dashboard{}, fmt.Errorf("parse: %w", err)
	}
	if in.UID == "" {
		return Dashboard{}, errNoUID
	}
	out := Dashboard{UID: in.UID, Title: in.Title}
	for _, one := range in.Templating.List {
		out.Sources = append(out.Sources, one.Datasource.UID)
		variable, err := one.variable(in.UID)
		if err != nil {
			return Dashboard{}, err
		}
		out.Variables = append(out.Variables, variable)
	}
	in.collect(in.Panels, &out)
	return out, nil
}
