package docs_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// program reads what a command promises from its source: the flags of each subcommand with their types and defaults,
// whether it may end with exit code 1, and the fields of its JSON.
type program struct {
	*source
	s         *sources
	functions map[types.Object]*ast.FuncDecl
	lines     map[string]int // how often they were added
}

// commandLines returns the sorted lines of a command. A JSON field that several objects of a subcommand have is in one
// line with their number.
func (s *sources) commandLines(dir string) (all []string) {
	p := s.program(dir)
	root := path.Base(dir)
	p.command(root, p.functions[p.types.Scope().Lookup("main")])
	p.exitConstants(root)
	if codes, ok := p.types.Scope().Lookup("exitCodesText").(*types.Const); ok {
		p.exitCodes(root, constant.StringVal(codes.Val()))
	}

	// Programs that use cli.Program share its errors.
	shared := s.program("internal/cli")
	if uses := shared.types.Scope().Lookup("Program"); slices.Contains(slices.Collect(maps.Values(p.info.Uses)), uses) {
		for o, f := range shared.functions {
			if o.Name() == "printError" {
				shared.command(root, f)
			}
		}
		shared.exitConstants(root)
		maps.Copy(p.lines, shared.lines)
	}

	for line, n := range p.lines {
		if n > 1 {
			line += fmt.Sprintf(" (in %d objects)", n)
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

// program loads the program of a folder.
func (s *sources) program(dir string) *program {
	p := &program{s.load(dir), s, map[types.Object]*ast.FuncDecl{}, map[string]int{}}
	for _, f := range p.files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && p.info.Defs[d.Name] != nil {
				p.functions[p.info.Defs[d.Name]] = d
			}
		}
	}
	return p
}

// exitConstants adds the lines of the exit codes that a program uses: ExitOK, ExitNo, ExitError, or exitOK and so on.
func (p *program) exitConstants(root string) {
	for _, o := range p.info.Uses {
		if c, ok := o.(*types.Const); ok && exitConstant.MatchString(c.Name()) {
			p.lines[fmt.Sprintf("%s E%s = %v", root, c.Name()[1:], c.Val())] = 1
		}
	}
}

// exitCodes adds the lines of the help page of exit codes, up to its first empty line.
func (p *program) exitCodes(root, page string) {
	page, _, _ = strings.Cut(page, "\n\n")
	const width = 13 // of the column with the codes
	last := ""
	for line := range strings.Lines(page) {
		last = cmp.Or(strings.TrimSpace(line[:width]), last)
		p.lines[fmt.Sprintf("%s exits with %s: %s", root, last, strings.TrimSpace(line[width:]))] = 1
	}
}

// typeOf returns the type of an expression, which may be invalid.
func (p *program) typeOf(e ast.Expr) types.Type {
	if t := p.info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

func (p *program) constant(e ast.Expr) constant.Value { return p.info.Types[e].Value }

// useOf returns the field Use of the command that a function makes, or "".
func (p *program) useOf(f *ast.FuncDecl) (use string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if n, ok := n.(*ast.KeyValueExpr); ok && p.s.text(n.Key) == "Use" && p.constant(n.Value) != nil {
			use = constant.StringVal(p.constant(n.Value))
		}
		return true
	})
	return use
}

// walk visits the function that makes a command, and all functions of the program that it reaches.
type walk struct {
	*program
	name          string // of the command
	reached       []*ast.FuncDecl
	subcommands   []*ast.FuncDecl // functions that make commands
	seen          map[*ast.FuncDecl]bool
	mayExitWithNo bool
}

// command adds the lines of a command and of its subcommands.
func (p *program) command(name string, from *ast.FuncDecl) {
	w := &walk{program: p, name: name, reached: []*ast.FuncDecl{from}, seen: map[*ast.FuncDecl]bool{from: true}}
	for i := 0; i < len(w.reached); i++ {
		ast.Inspect(w.reached[i], func(n ast.Node) bool {
			w.visit(n)
			return true
		})
	}
	if w.mayExitWithNo {
		p.lines[name+" may exit with ExitNo"] = 1
	}

	for _, f := range w.subcommands {
		use := p.useOf(f)
		sub, _, _ := strings.Cut(use, " ")
		if sub != name { // main reaches the function that makes the root
			sub = name + " " + sub
		}
		p.lines[sub+" is "+use] = 1
		p.command(sub, f)
	}
}

// reach adds a function to those that the walk visits. f may be nil.
func (w *walk) reach(f *ast.FuncDecl) {
	switch {
	case f == nil || w.seen[f]:
	case w.useOf(f) != "":
		w.subcommands = append(w.subcommands, f)
	default:
		w.reached = append(w.reached, f)
	}
	w.seen[f] = true
}

func (w *walk) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.Ident:
		if f, ok := w.info.Uses[n].(*types.Func); ok {
			w.reach(w.functions[f.Origin()])
		}
		w.mayExitWithNo = w.mayExitWithNo || n.Name == "errNo"
	case *ast.SelectorExpr:
		if n.Sel.Name == "WriteJSON" { // the method of a result
			w.value("", n.X, w.typeOf(n.X))
		}
	case *ast.CompositeLit:
		w.object(n)
	case *ast.CallExpr:
		if signature, ok := w.typeOf(n.Fun).(*types.Signature); ok {
			w.flag(n, signature.Params())
			w.printed(n, signature.Params())
		}
	}
}

var (
	exitConstant = regexp.MustCompile("^[eE]xit(OK|No|Error)$")
	// adding matches the methods of a set of flags that add a flag, and functions of this repository.
	adding = regexp.MustCompile(`^(?:parse|parseDefault|Alias|Func|Var|(Bool|Duration|Float64|Int|String|Uint)\w*)$`)
	// printing matches the functions that print a value as JSON. The value is their only parameter of type any.
	printing = regexp.MustCompile(`^(?:report|answer|table|printJSON|WriteJSON|AppendJSON|Marshal|Encode)$`)
)

// flag adds the line of a flag if the call adds one. The names of its parameters tell what the arguments are.
func (w *walk) flag(call *ast.CallExpr, params *types.Tuple) {
	var method string
	switch f := call.Fun.(type) {
	case *ast.Ident:
		method = f.Name
	case *ast.SelectorExpr:
		if f.Sel.Name == "Alias" || w.typeOf(f.X).String() == "*github.com/spf13/pflag.FlagSet" {
			method = f.Sel.Name
		}
	}
	if !adding.MatchString(method) {
		return
	}

	var name, short, value string
	kind := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(method, "P"), "Var"))
	for i := range min(params.Len(), len(call.Args)) {
		argument := call.Args[i]
		v := w.constant(argument)
		switch params.At(i).Name() {
		case "to":
			if to, ok := w.typeOf(argument).(*types.Pointer); ok {
				kind = types.TypeString(to.Elem(), shortNames(w.types))
			}
		case "name", "alias":
			if name != "" {
				break // the flag that an alias stands for
			}
			if v == nil {
				return // a function that passes a name on
			}
			name = " --" + constant.StringVal(v)
		case "shorthand":
			short = " -" + constant.StringVal(v)
		case "value", "text":
			if value = " = " + w.s.text(argument); v != nil {
				value = " = " + constantText(w.typeOf(argument), v)
			}
		}
	}
	if method == "Var" {
		kind, value = "value", ""
	}
	if name != "" {
		w.lines[w.name+" flag"+name+short+" "+kind+value] = 1
	}
}

// object adds the fields of a literal of the type object of cmd/bloomery.
func (w *walk) object(literal *ast.CompositeLit) {
	if t, ok := w.typeOf(literal).(*types.Named); !ok || t.Obj().Name() != "object" {
		return
	}
	for _, field := range literal.Elts {
		field := field.(*ast.CompositeLit)
		w.field(constant.StringVal(w.constant(field.Elts[0])), field.Elts[1], w.typeOf(field.Elts[1]))
	}
}

// printed adds the fields of the value that a call prints as JSON.
func (w *walk) printed(call *ast.CallExpr, params *types.Tuple) {
	words := strings.Split(w.s.text(call.Fun), ".")
	if !printing.MatchString(words[len(words)-1]) {
		return
	}
	for i := range min(params.Len(), len(call.Args)) {
		if t, ok := params.At(i).Type().Underlying().(*types.Interface); ok && t.Empty() {
			w.value("", call.Args[i], w.typeOf(call.Args[i]))
		}
	}
}

// field adds a line for a field, whose name may end in an option such as ",omitempty", and lines for the fields of its
// value. e is nil if only the type is known.
func (w *walk) field(name string, e ast.Expr, t types.Type) {
	name, option, _ := strings.Cut(name, ",")
	line := fmt.Sprintf("%s json %s %s", w.name, name, types.TypeString(t, shortNames(w.types)))
	if option != "" {
		line += ", " + option
	}
	w.lines[line]++
	w.value(name+".", e, t)
}

// value adds lines for the fields of a value: of a map literal, of a struct, or of the elements of a list. Types of the
// program that have MarshalJSON use objects there.
func (w *walk) value(prefix string, e ast.Expr, t types.Type) {
	if literal, ok := e.(*ast.CompositeLit); ok {
		if _, ok := t.Underlying().(*types.Map); ok {
			for _, pair := range literal.Elts {
				pair := pair.(*ast.KeyValueExpr)
				w.field(prefix+constant.StringVal(w.constant(pair.Key)), pair.Value, w.typeOf(pair.Value))
			}
			return
		}
	}

	for {
		for _, method := range []string{"MarshalJSON", "MarshalText"} {
			if m, _, _ := types.LookupFieldOrMethod(t, true, w.types, method); m != nil {
				w.reach(w.functions[m])
				return
			}
		}
		list, ok := t.Underlying().(interface{ Elem() types.Type })
		if !ok {
			break
		}
		t = list.Elem()
	}
	w.structFields(prefix, t)
}

// structFields adds lines for the fields of a struct, with the names that encoding/json gives them.
func (w *walk) structFields(prefix string, t types.Type) {
	fields, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i := range fields.NumFields() {
		f, tag := fields.Field(i), reflect.StructTag(fields.Tag(i)).Get("json")
		switch {
		case tag == "-", !f.Exported() && !f.Embedded():
		case f.Embedded() && tag == "":
			w.structFields(prefix, f.Type())
		case tag == "" || tag[0] == ',':
			w.field(prefix+f.Name()+tag, nil, f.Type())
		default:
			w.field(prefix+tag, nil, f.Type())
		}
	}
}
