package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/interop"
	"github.com/bloomery/bloomery/publish"
)

// hints are hints for errors, by the sentinel that the error wraps. The first hint that matches is printed below the
// error, without the sentences about flags that the command does not have.
var hints = []struct {
	err    error
	advice string
}{
	{delta.ErrBase, "Take the version that the delta was made from, or the whole new file."},
	{delta.ErrVersion, "Install a newer bloomery, or take the whole new file."},
	{delta.ErrCorrupt, "Copy the delta again, or take the whole new file."},
	{filter.ErrExact, `bloomery exact info, exact check and exact verify read exact sets; diff, patch, publish and
  follow take both.`},
	{exact.ErrFilter, `bloomery info, check and verify read filters; bloomery exact reads what bloomery exact build
  wrote.`},
	{container.ErrWindow, `bloomery info, check and verify read such files, but not from a pipe, and bloomery dedup --state
  its own; no other command does.`},
	{filter.ErrMagic, "Give a file that bloomery build or bloomery convert wrote; inputs with keys come after it."},
	{interop.ErrFormat, adviceFormats},
	{errNoOther, adviceFormats},
	{filter.ErrVersion, "Install a newer bloomery, or build the file again with this one."},
	{filter.ErrChecksum, adviceDamaged},
	{filter.ErrCorrupt, adviceDamaged},
	{filter.ErrChanged, "Nothing was written; run the command again."},
	{filter.ErrRate, `Nothing was written. Build the filter from all of its keys with a larger size: --fpr or --capacity,
  or more --bits-per-key or --bytes; or raise --max-fpr.`},
	{filter.ErrShrunk,
		`Nothing was written. Is the list complete? If it is, allow the loss: --shrink, or --shrink=P% for at most
  that part of the keys.`},
	{filter.ErrKeys, adviceChanged},
	{publish.ErrForeign,
		`Use a folder that only you may write, or remove what others have put there. --allow-foreign accepts it.`},
	{publish.ErrOlder,
		`Is this mirror late? Try another one. If the key that signed the larger number was stolen, leave it out
  of --key: its numbers do not count then.`},
	{keyio.ErrChanged, adviceChanged},
	{filter.ErrFile, `Answers may be wrong, also those that were printed before. Run the command again, and replace filter
  files by rename, as every bloomery command does; do not write into them.`},
	{filter.ErrNoSecret, "Name the file with the secret: --secret-file FILE."},
	{filter.ErrSecret, "The file of --secret-file holds another secret: name the file with the right one."},
	{syscall.ENOSPC, "Free some space. Write to another disk: -o FILE. Keep the state on another disk: --state FILE. " +
		"Put temporary files on another disk, or make fewer: --temp-dir DIR, --memory SIZE."},
	{filter.ErrMismatch, `Filters can be merged and compared if their specs and seeds are the same: build them with the
  same --spec, size, --capacity and --seed.`},
	{steps.ErrMissing, "Run what is missing; bloomery shard status DIR lists it."},
	{filter.ErrExceptions, "Run bloomery build --allow with all keys and the list."},
	{filter.ErrValues, "Nothing was written. Give each key one value."},
	{filter.ErrAllowed, "Nothing was written. --conflicts prints all such keys."},
	{filter.ErrUnsupported, "Build the filter from its keys with another family: bloomery build --spec NAME."},
}

const (
	adviceChanged = `Nothing was written. Run the command again when the input no longer changes, or pipe it: a pipe is
  read once: cat INPUT | bloomery build -o FILE`
	adviceFormats = "bloomery convert --help lists the files and filters that it knows."
	adviceDamaged = "The file is damaged or incomplete: copy it again, or build it again."
)

// hint returns the hint for an error that does not contain a hint, or "".
func hint(c *cobra.Command, err error) string {
	if text := advisePublished(c, err); text != "" {
		return text
	}
	text := ""
	for sentence := range strings.SplitAfterSeq(adviceFor(err), ". ") {
		others := aboutOther.MatchString(sentence)
		if !slices.ContainsFunc(flagInText.FindAllStringSubmatch(sentence, -1), func(m []string) bool {
			return !others && c.Flag(m[1]) == nil && c.Flags().ShorthandLookup(m[2]) == nil
		}) {
			text += sentence
		}
	}
	return strings.TrimSpace(text)
}

var (
	// aboutOther matches sentences about flags of another command: a named command, or a build.
	aboutOther = regexp.MustCompile(`bloomery [a-z]|(?i:\bbuild (it|them|the)\b)`)
	flagInText = regexp.MustCompile(`(?:^|[ (])(?:--([a-z]+(?:-[a-z]+)*)|-([a-z])\b)`)
)

// adviceFor returns advice about an error that fits all commands, or "".
func adviceFor(err error) string {
	for _, h := range hints {
		if errors.Is(err, h.err) || h.err == syscall.ENOSPC && container.DiskFull(err) {
			return h.advice
		}
	}

	var long *keyio.KeyTooLongError
	advice := ""
	if errors.As(err, &long) || errors.Is(err, keyio.ErrRecordTooLong) {
		advice = "If it is a list of keys, allow longer ones: --max-key-bytes 10MB. "
	}

	var bad *keyio.BadRowError
	if errors.As(err, &bad) {
		advice += "To leave out such rows and count them: --bad-rows skip."
	}
	if advice != "" {
		return advice
	}

	var format *container.FormatError // only for filter files, since other files can also be truncated
	if errors.As(err, &format) && errors.Is(format, io.ErrUnexpectedEOF) {
		return adviceDamaged
	}
	return ""
}

// adviseBuild adds a hint to the error of a build whose filter was full before all keys were in it. The hint begins
// with where, which names the command that takes the flags if it is another one.
func adviseBuild(err error, s filter.Spec, where string) error {
	if !errors.Is(err, filter.ErrFull) {
		return err
	}
	const room = "if there are more keys than that, make room for them: --capacity N, or a larger --max-keys"
	if family.Given(s, "counting") {
		return cli.Advise(err, where+`A key that comes hundreds of times fills its bucket, however large the filter:
  leave out --counting, and each key is added once; `+room+".")
	}
	return cli.Advise(err, where+`Where duplicates are not dropped, a key takes room each time that it comes: --counting;
  `+room+", or give a spec without sizes or expansion=0.")
}

// adviseAdd names the file in the error of a change, and adds a hint if the filter is full.
func adviseAdd(err error, path string, s filter.Spec) error {
	if !errors.Is(err, filter.ErrFull) {
		return err
	}
	err = fmt.Errorf("%s: %w", path, err)
	if f, _ := families.ByName(s.Family()); f.Takes("expansion") {
		return cli.Advise(err, `Nothing was written. Chains made with expansion=0, or NONSCALING in Redis, do not grow: build it
  again without that, or with --capacity N.`)
	}
	return cli.Advise(err, `Nothing was written. Build it again with room for later keys: --capacity N, or growth=G in the spec, such
  as "rankindexed(fpr=0.01,growth=6)", which lets it double six times. A key that comes again takes room each time,
  with --counting every fourth time.`)
}
