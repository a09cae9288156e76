// Package fuzzed runs a fuzz target of Go under libFuzzer. build.sh copies it into the module, and lets the files of
// targets import it in place of testing.
package fuzzed

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// What the files of targets use of testing.
type (
	T  = testing.T
	TB = testing.TB
	B  = testing.B
)

var (
	Short        = testing.Short
	AllocsPerRun = testing.AllocsPerRun
)

var inputs, passed = make(chan []byte), make(chan struct{})

// F is the argument of a target. Its seeds are in the corpus of libFuzzer.
type F struct{ *testing.T }

// Add checks nothing and adds nothing.
func (*F) Add(...any) {}

// Fuzz runs fn as a subtest with each input.
func (f *F) Fuzz(fn any) {
	call := reflect.ValueOf(fn)
	for input := range inputs {
		ok := f.Run("input", func(t *testing.T) {
			if args := arguments(call.Type(), input); args != nil {
				args[0] = reflect.ValueOf(t)
				call.Call(args)
			}
		})
		if !ok {
			panic("the target failed") // in this goroutine, where testing first prints what the target said
		}
		passed <- struct{}{}
	}
}

// Start runs a target, whose files are in folder beside the program, until it asks for the first input.
func Start(target func(*F), folder string) {
	program, err := os.Executable()
	if err == nil {
		err = os.Chdir(filepath.Join(filepath.Dir(program), "files", folder))
	}
	if err != nil {
		panic(err)
	}
	os.Args = os.Args[:1] // the others are for libFuzzer
	all := func(string, string) (bool, error) { return true, nil }
	go testing.Main(all, []testing.InternalTest{{Name: "fuzz", F: func(t *testing.T) { target(&F{t}) }}}, nil, nil)
}

// One runs the target with an input.
func One(input []byte) {
	inputs <- append([]byte{}, input...)
	<-passed
}

// arguments divides an input among the arguments of a target. Numbers take their bytes from its start, in order, and
// texts the rest; all texts except the last have their length in two bytes in front. It returns nil if the input is too
// short.
func arguments(fn reflect.Type, in []byte) []reflect.Value {
	args := make([]reflect.Value, fn.NumIn())
	var texts []reflect.Value
	for i := 1; i < len(args); i++ {
		args[i] = reflect.New(fn.In(i)).Elem()
		size := int(fn.In(i).Size())
		switch {
		case args[i].Kind() == reflect.String || args[i].Kind() == reflect.Slice:
			texts = append(texts, args[i])
			continue
		case len(in) < size:
			return nil
		}
		n := binary.LittleEndian.Uint64(append(append([]byte{}, in[:size]...), make([]byte, 8-size)...))
		in = in[size:]
		if args[i].CanUint() {
			args[i].SetUint(n)
		} else {
			args[i].SetInt(int64(n))
		}
	}

	for i, text := range texts {
		part := in
		if i < len(texts)-1 {
			if len(in) < 2 || len(in)-2 < int(binary.LittleEndian.Uint16(in)) {
				return nil
			}
			end := 2 + int(binary.LittleEndian.Uint16(in))
			part, in = in[2:end], in[end:]
		}
		text.Set(reflect.ValueOf(part).Convert(text.Type()))
	}
	return args
}
