package container

import "context"

type warnKey struct{}

// WithWarnings returns a context in which writers of files call warn with what did not prevent the writing, such as an
// error wrapping ErrOwner. Without it they are silent.
func WithWarnings(ctx context.Context, warn func(error)) context.Context {
	return context.WithValue(ctx, warnKey{}, warn)
}

// warn passes err to the function of WithWarnings, if there is one.
func warn(ctx context.Context, err error) {
	if f, ok := ctx.Value(warnKey{}).(func(error)); ok && err != nil {
		f(err)
	}
}
