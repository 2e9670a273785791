package redisx

import "fmt"

// fieldsOf turns a RESP3 map, or a flat list of names and values, into a map.
func fieldsOf(item any) (map[string]any, error) {
	fields := map[string]any{}
	switch item := item.(type) {
	case map[any]any:
		for name, value := range item {
			text, ok := name.(string)
			if !ok {
				return nil, fmt.Errorf("%w: a field name is a %T", ErrReply, name)
			}
			fields[text] = value
		}
	case []any:
		if len(item)%2 != 0 {
			return nil, fmt.Errorf("%w: %d names and values", ErrReply, len(item))
		}
		for i := 0; i < len(item); i += 2 {
			text, ok := item[i].(string)
			if !ok {
				return nil, fmt.Errorf("%w: a field name is a %T", ErrReply, item[i])
			}
			fields[text] = item[i+1]
		}
	default:
		return nil, fmt.Errorf("%w: fields are a %T", ErrReply, item)
	}
	return fields, nil
}

func textField(fields map[string]any, name string) (string, error) {
	text, ok := fields[name].(string)
	if !ok {
		return "", fmt.Errorf("%w: %s is a %T", ErrReply, name, fields[name])
	}
	return text, nil
}

// numberField reads a number that must be there and not negative.
func numberField(fields map[string]any, name string) (int64, error) {
	n, ok := fields[name].(int64)
	if !ok || n < 0 {
		return 0, fmt.Errorf("%w: %s is %v", ErrReply, name, fields[name])
	}
	return n, nil
}

// countField reads a number that Redis may not know.
func countField(fields map[string]any, name string) (Count, error) {
	switch value := fields[name].(type) {
	case nil:
		return Count{}, nil
	case int64:
		return KnownCount(value), nil
	default:
		return Count{}, fmt.Errorf("%w: %s is a %T", ErrReply, name, value)
	}
}
