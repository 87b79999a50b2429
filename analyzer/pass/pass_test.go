package pass_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/pass"
)

func constant(n int, times *atomic.Int32) func(context.Context, *pass.Run) (int, error) {
	return func(context.Context, *pass.Run) (int, error) {
		times.Add(1)
		return n, nil
	}
}

// Two passes that require a third share its result.
func TestComputedOnce(t *testing.T) {
	var times atomic.Int32
	three := pass.New("three", constant(3, &times))
	double := func(ctx context.Context, r *pass.Run) (int, error) {
		n, err := three.Of(ctx, r)
		return 2 * n, err
	}
	six, alsoSix := pass.New("six", double, three), pass.New("also six", double, three)
	r := pass.Begin(t.Context(), nil, six, alsoSix)
	for _, p := range []*pass.Pass[int]{six, alsoSix, six} {
		n, err := p.Of(t.Context(), r)
		require.NoError(t, err)
		assert.Equal(t, 6, n)
	}
	assert.EqualValues(t, 1, times.Load())
	assert.True(t, r.Wants(three))
	require.NoError(t, r.Close())
}

// A pass takes the results of its requirements without checking for errors: if one fails, the pass
// fails before it begins.
func TestResult(t *testing.T) {
	three := pass.New("three", func(context.Context, *pass.Run) (int, error) { return 3, nil })
	six := pass.New("six", func(_ context.Context, r *pass.Run) (int, error) { return 2 * three.Result(r), nil }, three)
	fails := pass.New("fails", func(context.Context, *pass.Run) (int, error) { return 0, errors.New("it failed") })
	begun := false
	needs := pass.New("needs", func(_ context.Context, r *pass.Run) (int, error) {
		begun = true
		return fails.Result(r), nil
	}, six, fails)
	sly := pass.New("sly", func(_ context.Context, r *pass.Run) (int, error) { return six.Result(r), nil }, three)
	r := pass.Begin(t.Context(), nil, needs, sly)
	pass.Give(r, three, 4)
	n, err := six.Of(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, 8, n)
	_, err = needs.Of(t.Context(), r)
	require.EqualError(t, err, "it failed")
	assert.False(t, begun)
	_, err = sly.Of(t.Context(), r)
	require.ErrorContains(t, err, `the result of pass "six" is used by pass "sly", which does not require it`)
	assert.Panics(t, func() { six.Result(r) })
	require.NoError(t, r.Close())
}

func TestGiven(t *testing.T) {
	var times atomic.Int32
	three := pass.New("three", constant(3, &times))
	r := pass.Begin(t.Context(), nil, three)
	pass.Give(r, three, 4)
	n, err := three.Of(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, 4, n)
	assert.Zero(t, times.Load())
	require.NoError(t, r.Close())
}

// A pass does not get results that it does not require; otherwise the needs of a run would not be
// known in advance.
func TestOnlyWhatIsRequired(t *testing.T) {
	var times atomic.Int32
	three := pass.New("three", constant(3, &times))
	sly := pass.New("sly", func(ctx context.Context, r *pass.Run) (int, error) { return three.Of(ctx, r) })
	r := pass.Begin(t.Context(), nil, sly, three)
	_, err := sly.Of(t.Context(), r)
	var bug *pass.Bug
	require.ErrorAs(t, err, &bug)
	assert.ErrorContains(t, err, `pass "three" is used by pass "sly", which does not require it`)
	other := pass.Begin(t.Context(), nil, sly)
	assert.Panics(t, func() { _, _ = three.Of(t.Context(), other) })
}

// An optional pass is computed only in a run that wants it anyway.
func TestOptional(t *testing.T) {
	var times atomic.Int32
	three := pass.New("three", constant(3, &times))
	maybe := pass.New("maybe", func(ctx context.Context, r *pass.Run) (int, error) {
		if !r.Wants(three) {
			return 0, nil
		}
		return three.Of(ctx, r)
	}).Uses(three)
	for _, c := range []struct {
		want []pass.Step
		n    int
	}{{[]pass.Step{maybe}, 0}, {[]pass.Step{maybe, three}, 3}} {
		r := pass.Begin(t.Context(), nil, c.want...)
		n, err := maybe.Of(t.Context(), r)
		require.NoError(t, err)
		assert.Equal(t, c.n, n)
		require.NoError(t, r.Close())
	}
}

// An early pass begins when its requirements are computed. Closing the run cancels its context and
// waits for it.
func TestEarly(t *testing.T) {
	var times atomic.Int32
	three := pass.New("three", constant(3, &times))
	begun, ended := make(chan struct{}), false
	long := pass.New("long", func(ctx context.Context, r *pass.Run) (int, error) {
		close(begun)
		<-ctx.Done()
		ended = true
		return 0, ctx.Err()
	}, three).Early()
	r := pass.Begin(t.Context(), nil, three, long)
	closed := false
	r.OnClose(func() error {
		closed = ended
		return errors.New("cannot close")
	})
	_, err := three.Of(t.Context(), r)
	require.NoError(t, err)
	<-begun
	require.EqualError(t, r.Close(), "cannot close")
	assert.True(t, closed)
}

// A panic affects only the passes that need the result, and no goroutine waits forever.
func TestBug(t *testing.T) {
	broken := pass.New("broken", func(context.Context, *pass.Run) (int, error) {
		var none []int
		return none[0], nil
	})
	needs := pass.New("needs", func(ctx context.Context, r *pass.Run) (int, error) { return broken.Of(ctx, r) }, broken)
	r := pass.Begin(t.Context(), nil, needs)
	for range 2 {
		_, err := needs.Of(t.Context(), r)
		require.ErrorContains(t, err, "this is a bug of Cairn's")
	}
}

// TestDone: what a result holds is released when no remaining step requires it, however indirectly.
func TestDone(t *testing.T) {
	released := 0
	log := pass.New("log", func(_ context.Context, r *pass.Run) (int, error) {
		r.OnClose(func() error { released++; return nil })
		return 1, nil
	})
	direct := pass.New("direct", func(_ context.Context, r *pass.Run) (int, error) { return log.Result(r), nil }, log)
	indirect := pass.New("indirect", func(_ context.Context, r *pass.Run) (int, error) { return direct.Result(r), nil }, direct)
	other := pass.New("other", func(context.Context, *pass.Run) (int, error) { return 2, nil })
	r := pass.Begin(t.Context(), nil, direct, indirect, other)
	for i, want := range []int{0, 0, 1} {
		left := []pass.Step{direct, indirect, other}[i:]
		require.NoError(t, r.Done(left...))
		assert.Equal(t, want, released, i)
		if i == 0 {
			_, err := direct.Of(t.Context(), r)
			require.NoError(t, err)
		}
	}
	require.NoError(t, r.Close())
	assert.Equal(t, 1, released)
}

// TestDoneKeepsWhatIsUsed: a result stays while a remaining step uses it, if it
// does not require it.
func TestDoneKeepsWhatIsUsed(t *testing.T) {
	computed := 0
	first := pass.New("first", func(context.Context, *pass.Run) (int, error) { computed++; return 7, nil })
	second := pass.New("second", func(ctx context.Context, r *pass.Run) (int, error) { return first.Of(ctx, r) }).Uses(first)
	r := pass.Begin(t.Context(), nil, first, second)
	_, err := first.Of(t.Context(), r)
	require.NoError(t, err)
	require.NoError(t, r.Done(second))
	found, err := second.Of(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, 7, found)
	assert.Equal(t, 1, computed)
	require.NoError(t, r.Done())
	assert.Zero(t, pass.Computed(r, first), "dropped")
	require.NoError(t, r.Close())
}
