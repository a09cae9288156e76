package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// newDrivers returns the readers of the options. The C driver is compiled with these arguments.
func newDrivers(ctx context.Context, o options, dir string, cArgs []string) (all []reader, err error) {
	for _, name := range o.readers {
		var d *driver
		switch name {
		case "c":
			d, err = newC(ctx, o.cc, dir, cArgs)
		case "python":
			d, err = newPython(ctx, o.python, dir)
		default:
			d, err = newJS(name, dir)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// newJS returns the driver of the JavaScript package, "plain" or "wasm".
func newJS(form, dir string) (*driver, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("%w: install Node.js 20 or newer", err)
	}
	script := filepath.Join("..", "..", "js", "test", "answers.mjs")
	for _, path := range []string{script, filepath.Join("..", "..", "js", "dist", "index.js")} {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%w: build the package first, with npm ci && npm run build in js", err)
		}
	}
	return newDriver(form, dir, node, "--max-old-space-size=2048", script, "--"+form), nil
}

// newC compiles and returns the driver of the C header.
func newC(ctx context.Context, cc, dir string, args []string) (*driver, error) {
	if _, err := exec.LookPath(cc); err != nil {
		return nil, fmt.Errorf("%w: install a C compiler, such as gcc, or name one with --cc", err)
	}
	program := filepath.Join(dir, "answers")
	source := filepath.Join("..", "..", "c", "test", "answers.c")
	args = append([]string{"-std=gnu11", "-o", program, source}, args...)
	if out, err := exec.CommandContext(ctx, cc, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s %q: %w: %s", cc, args, err, out)
	}
	return newDriver("c", dir, program), nil
}

// newPython returns the driver of the Python package, which the interpreter must have.
func newPython(ctx context.Context, interpreter, dir string) (*driver, error) {
	if out, err := exec.CommandContext(ctx, interpreter, "-c", "import bloomery").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s: install the package, with pip install ../../python, or name an interpreter that "+
			"has it with --python", interpreter, err, out)
	}
	return newDriver("python", dir, interpreter, filepath.Join("..", "..", "python", "tests", "answers.py")), nil
}
