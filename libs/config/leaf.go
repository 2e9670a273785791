package config

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

const (
	// root is the key under which a file holds everything.
	root = "coordinator"
	// envPrefix begins the name of every variable.
	envPrefix = "RSC_"
	// fileSuffix ends the name of a variable that points to a secret's file.
	fileSuffix = "_FILE"
)

// leaf is one setting of a struct.
type leaf struct {
	key   string // without the root, for example redis.host
	usage string
	value reflect.Value // settable when the struct was given by pointer
}

// leaves returns the settings of a struct in the order of its fields.
func leaves(of reflect.Value) []leaf {
	return walk(of, "", nil)
}

func walk(of reflect.Value, prefix string, found []leaf) []leaf {
	for i := range of.NumField() {
		field := of.Type().Field(i)
		name := field.Tag.Get("koanf")
		if name == "" || !field.IsExported() {
			continue
		}
		key := strings.TrimPrefix(prefix+"."+name, ".")
		if field.Type.Kind() == reflect.Struct {
			found = walk(of.Field(i), key, found)
			continue
		}
		found = append(found, leaf{key: key, usage: field.Tag.Get("usage"), value: of.Field(i)})
	}
	return found
}

// env returns the name of the variable that sets the leaf.
func (l leaf) env() string {
	return envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(l.key))
}

// flag returns the name of the flag that sets the leaf, without its dashes.
func (l leaf) flag() string { return strings.ReplaceAll(l.key, ".", "-") }

func (l leaf) secret() bool { return l.value.Type() == reflect.TypeFor[Secret]() }

// text returns the value as people write it, a secret masked.
func (l leaf) text() string {
	if l.value.Kind() == reflect.Slice {
		parts := make([]string, l.value.Len())
		for i := range parts {
			parts[i] = l.value.Index(i).String()
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(l.value.Interface())
}

// kind names what the leaf takes, for help texts.
func (l leaf) kind() string {
	switch l.value.Interface().(type) {
	case time.Duration:
		return "duration"
	case bool:
		return "true|false"
	case []string:
		return "list"
	case string, Secret:
		return "text"
	default:
		return "number"
	}
}

// set takes a value of a file, a variable or a flag. Errors do not repeat the value, which
// may be a secret in the wrong place.
func (l leaf) set(from any) error {
	if from == nil {
		return fmt.Errorf("%s has no value", l.key)
	}
	if l.table() {
		return l.setTable(from)
	}
	switch target := l.value.Addr().Interface().(type) {
	case *time.Duration:
		return l.setDuration(target, from)
	case *[]string:
		return l.setList(target, from)
	case *string:
		return l.setText(from)
	case *Secret:
		return l.setText(from)
	case *bool:
		parsed, err := strconv.ParseBool(fmt.Sprint(from))
		if err != nil {
			return fmt.Errorf("%s must be true or false", l.key)
		}
		*target = parsed
		return nil
	case *float64:
		return l.setFraction(target, from)
	default:
		return l.setNumber(from)
	}
}

func (l leaf) setDuration(target *time.Duration, from any) error {
	text, _ := from.(string)
	parsed, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return fmt.Errorf("%s must be a duration with a unit, such as 500ms or 10s", l.key)
	}
	*target = parsed
	return nil
}

func (l leaf) setList(target *[]string, from any) error {
	var parts []string
	switch given := from.(type) {
	case string:
		for part := range strings.SplitSeq(given, ",") {
			parts = append(parts, strings.TrimSpace(part))
		}
	case []any:
		for _, part := range given {
			text, ok := part.(string)
			if !ok {
				return fmt.Errorf("%s must be a list of texts", l.key)
			}
			parts = append(parts, text)
		}
	default:
		return fmt.Errorf("%s must be a list", l.key)
	}
	*target = parts
	return nil
}

// setText takes nothing but text: YAML would have changed a password such as 0123 already.
func (l leaf) setText(from any) error {
	text, ok := from.(string)
	if !ok {
		return fmt.Errorf("%s must be one text; put numbers and the like in quotes", l.key)
	}
	l.value.SetString(text)
	return nil
}

func (l leaf) setFraction(target *float64, from any) error {
	parsed, err := strconv.ParseFloat(strings.TrimSpace(fmt.Sprint(from)), 64)
	if err != nil || math.IsNaN(parsed) || math.IsInf(parsed, 0) {
		return fmt.Errorf("%s must be a number such as 0.25", l.key)
	}
	*target = parsed
	return nil
}

func (l leaf) setNumber(from any) error {
	if !l.value.CanInt() {
		return fmt.Errorf("%s: settings of type %s are not supported", l.key, l.value.Type())
	}
	parsed, err := strconv.ParseInt(strings.TrimSpace(fmt.Sprint(from)), 10, l.value.Type().Bits())
	if err != nil {
		return fmt.Errorf("%s must be a whole number", l.key)
	}
	l.value.SetInt(parsed)
	return nil
}
