// Package fathom has the types of Fathom's events on Kafka, which encoding/json reads and writes.
//
// What is read is written again as it was: an absent field stays absent, a null stays a null, and the fields that a
// newer Fathom adds are kept in Extra.
package fathom

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Or is the value of an optional field, or otherwise where it is absent.
func Or[T any](field *T, otherwise T) T {
	if field == nil {
		return otherwise
	}
	return *field
}

// Timestamp is an instant, to the microsecond.
type Timestamp struct{ time.Time }

// MarshalJSON writes six digits below the second or none, as Fathom does.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	layout := "2006-01-02T15:04:05.000000Z07:00"
	if t.Nanosecond()/1000 == 0 {
		layout = time.RFC3339
	}
	return json.Marshal(t.Format(layout))
}

// Nullable is a field that is absent, null or a value; its zero value is absent.
type Nullable[T any] struct {
	Value   *T
	Present bool
}

// IsZero says whether the field is absent.
func (n Nullable[T]) IsZero() bool { return !n.Present }

func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	n.Present = true
	return json.Unmarshal(data, &n.Value)
}

func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.Value) }

// read fills the fields that known has, and extra with all others.
func read(data []byte, known any, extra *map[string]json.RawMessage) error {
	if err := json.Unmarshal(data, known); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	fields := reflect.TypeOf(known).Elem()
	for index := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Field(index).Tag.Get("json"), ",")
		delete(all, name)
	}
	if *extra = all; len(all) == 0 {
		*extra = nil
	}
	return nil
}

// write puts extra behind the fields of known.
func write(known any, extra map[string]json.RawMessage) ([]byte, error) {
	written, err := json.Marshal(known)
	if err != nil || len(extra) == 0 {
		return written, err
	}
	more, err := json.Marshal(extra)
	if err != nil {
		return nil, err
	}
	if string(written) == "{}" {
		return more, nil
	}
	return append(append(written[:len(written)-1], ','), more[1:]...), nil
}

// readUnion reads the kind of value that the tag names.
func readUnion(data []byte, tag string, kinds map[string]func() any) (any, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	var kind string
	if err := json.Unmarshal(fields[tag], &kind); err != nil {
		return nil, fmt.Errorf("the field %s, which says what this is: %w", tag, err)
	}
	make, known := kinds[kind]
	if !known {
		return json.RawMessage(append([]byte(nil), data...)), nil
	}
	value := make()
	return value, json.Unmarshal(data, value)
}
