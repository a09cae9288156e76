package keyio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// path leads to a member of an object: the names of the objects around it, and then its own name.
type path []string

// checkPaths fills in the paths of Column and Second, for JSONL.
func (s *settings) checkPaths() error {
	if s.Header {
		return config("header", true, `the format "jsonl" has no header row`)
	}

	key, second := parsePath(s.Column), parsePath(s.Second)
	s.paths = []path{key}
	switch {
	case slices.Contains(key, ""):
		return config("column", s.Column, pathWanted)
	case s.Second == "":
		return nil
	case slices.Contains(second, ""):
		return config("second", s.Second, pathWanted)
	}
	s.paths = append(s.paths, second)
	return nil
}

const pathWanted = `the format "jsonl" needs the path of a member, such as user.id`

// parsePath splits the text of an option at its dots, but not at \. which is a dot in a name, as \\ is a backslash.
func parsePath(text string) path {
	p := path{""}
	for i := 0; i < len(text); i++ {
		if text[i] == '.' {
			p = append(p, "")
			continue
		}
		if text[i] == '\\' && i+1 < len(text) && (text[i+1] == '.' || text[i+1] == '\\') {
			i++
		}
		p[len(p)-1] += text[i : i+1]
	}
	return p
}

// object reads rows of JSONL. Package jsontext parses them: it validates whole rows, is the parser of encoding/json/v2,
// and stands for the package of the standard library from Go 1.27 on. It allows what encoding/json allows: two members
// with one name, of which the last one counts, and invalid UTF-8, which is an error in the key and in Options.Second.
//
// On one core, rows of 300 bytes: jsontext 250 MB/s; fastjson 250 MB/s, and jsonparser 890 MB/s because it does not
// validate what is behind the key; encoding/json 60 MB/s.
type object struct {
	decoder *jsontext.Decoder
	input   []byte       // what decoder reads
	source  bytes.Buffer // reads input
	paths   []path       // of the members to find
	found   [2]member    // by index of paths
	keys    [][]byte     // of a row
	name    []byte       // scratch space
	text    []byte       // the decoded texts of a block, as far as they have escapes
}

// member is the value of a path in a row, or nil if the row does not have it. If early is true, the value is in the
// place of an object on the path.
type member struct {
	value jsontext.Value
	early bool
}

// startObjects prepares a block for addObject.
func (b *block) startObjects(s *settings) {
	if b.json == nil {
		b.json = &object{paths: s.paths}
		b.json.decoder = jsontext.NewDecoder(&b.json.source, jsontext.AllowDuplicateNames(true),
			jsontext.AllowInvalidUTF8(true))
	}
	b.json.text = b.json.text[:0]
}

// addObject adds the keys of a row of JSONL. It returns an error, and adds nothing, if the row is bad.
func (b *block) addObject(s *settings, line int64, row, raw []byte) error {
	o := b.json
	err := o.find(row)
	if err == io.EOF { // a blank row
		return nil
	}
	if err == nil {
		err = o.readKeys(s)
	}
	var second []byte
	if err == nil && len(o.keys) > 0 && s.Second != "" {
		second, err = o.textOf(o.found[1], s.Second)
	}

	switch {
	case err != nil:
		return &RowError{b.Input, line, syntaxError(err)}
	case len(o.keys) == 0:
		b.keyless.countRows(1, &RowError{b.Input, line, errors.New("no " + s.Column)})
		return nil
	}

	value, err := b.parseValue(s, line, second)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(o.keys, func(key []byte) bool { return len(key) > s.MaxKey }) {
		return &KeyTooLongError{Input: b.Input, Line: line, MaxKey: s.MaxKey}
	}
	for _, key := range o.keys {
		if len(key) > 0 || s.KeepEmpty {
			b.addKey(s, line, key, second, raw, value)
		}
	}
	return nil
}

// find sets o.found to the members of a row. It returns io.EOF for a blank row, and an error unless the whole row is
// one object.
func (o *object) find(row []byte) error {
	o.found = [2]member{}
	o.reset(row)
	if err := o.readObject(0, 1<<len(o.paths)-1); err != nil {
		return err
	}

	_, err := o.decoder.ReadToken()
	switch err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("there is more behind the JSON object")
	}
	return err
}

// reset makes the decoder read text. jsontext then parses text itself, without a copy.
func (o *object) reset(text []byte) {
	o.input, o.source = text, *bytes.NewBuffer(text)
	o.decoder.Reset(&o.source, o.decoder.Options()) // one value of all options takes less time than two of one each
}

// readValue returns the next value, as a part of o.input: the decoder may change what its ReadValue returned.
func (o *object) readValue() (jsontext.Value, error) {
	value, err := o.decoder.ReadValue()
	end := o.decoder.InputOffset()
	return o.input[end-int64(len(value)) : end], err
}

// readObject reads an object, and in it the members at depth of the paths in the bit set open.
func (o *object) readObject(depth int, open uint) error {
	brace, err := o.decoder.ReadToken()
	switch {
	case err != nil:
		return err
	case brace.Kind() != '{':
		return errors.New("the row is not a JSON object")
	}

	for o.decoder.PeekKind() != '}' {
		name, err := o.decoder.ReadValue()
		if err != nil {
			return err
		}
		inside, ends := uint(0), false // the paths with this name, and whether one of them ends here
		for i, p := range o.paths {
			if open&(1<<i) != 0 && o.isName(name, p[depth]) {
				inside |= 1 << i
				ends = ends || len(p) == depth+1
				o.found[i] = member{} // if the name is there twice, the last one counts
			}
		}

		if inside != 0 && !ends && o.decoder.PeekKind() == '{' {
			if err := o.readObject(depth+1, inside); err != nil {
				return err
			}
			continue
		}
		value, err := o.readValue()
		if err != nil {
			return err
		}
		for i, p := range o.paths {
			if inside&(1<<i) != 0 {
				o.found[i] = member{value, depth+1 < len(p)}
			}
		}
	}
	_, err = o.decoder.ReadToken() // the brace
	return err
}

// isName reports whether a member has a name.
func (o *object) isName(quoted jsontext.Value, name string) bool {
	text := quoted[1 : len(quoted)-1]
	// A text with escapes is longer than what it stands for.
	if len(text) <= len(name) || bytes.IndexByte(text, '\\') < 0 {
		return string(text) == name
	}
	var err error
	o.name, err = jsontext.AppendUnquote(o.name[:0], quoted)
	return err == nil && string(o.name) == name
}

// readKeys sets o.keys to the keys of the row of find. There are none if the key is missing, null or an empty array.
func (o *object) readKeys(s *settings) error {
	o.keys = o.keys[:0]
	m := o.found[0]
	switch kind := m.value.Kind(); {
	case m.value == nil || kind == 'n':
		return nil
	case kind != '[' || m.early:
		key, err := o.textOf(m, s.Column)
		o.keys = append(o.keys, key)
		return err
	case s.OneKey:
		return fmt.Errorf("%s is an array: want one key per row", s.Column)
	}

	o.reset(m.value)
	_, err := o.decoder.ReadToken() // the bracket
	for err == nil && o.decoder.PeekKind() != ']' {
		var key []byte
		if m.value, err = o.readValue(); err == nil {
			key, err = o.textOf(m, "a value in "+s.Column)
			o.keys = append(o.keys, key)
		}
	}
	return err
}

// textOf returns the text of a member: the characters of a string without its quotes, or a number, true or false as it
// is written. name is the member in an error.
func (o *object) textOf(m member, name string) ([]byte, error) {
	kind := m.value.Kind()
	switch {
	case m.value == nil:
		return nil, fmt.Errorf("no %s", name)
	case m.early:
		return nil, fmt.Errorf("no %s: %s is in the place of an object", name, kindNames[kind])
	case kind == '0' || kind == 't' || kind == 'f':
		return m.value, nil
	case kind != '"':
		return nil, fmt.Errorf("%s is %s: want a string or a number", name, kindNames[kind])
	}

	text := m.value[1 : len(m.value)-1]
	if bytes.IndexByte(text, '\\') < 0 {
		if !utf8.Valid(text) {
			return nil, fmt.Errorf("%s is not valid UTF-8", name)
		}
		return text, nil
	}
	all, err := jsontext.AppendUnquote(o.text, m.value)
	if err != nil {
		return nil, fmt.Errorf("%s is not valid UTF-8, or has half of a surrogate pair", name)
	}
	text, o.text = all[len(o.text):], all
	return text, nil
}

var kindNames = map[jsontext.Kind]string{
	'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number", '[': "an array", '{': "an object",
}

// syntaxError says where a row is not valid JSON.
func syntaxError(err error) error {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return err
	}
	if err = syntax.Err; errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the row ends within the JSON object")
	}
	return fmt.Errorf("byte %d: %w; want an object per line, as jq -c prints", syntax.ByteOffset+1, err)
}
