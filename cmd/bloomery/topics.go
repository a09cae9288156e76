package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/keyio"
)

// topics are the pages of bloomery help TOPIC. They explain what several commands share, so that the page of a command
// is short.
var topics = []cli.Topic{
	{Name: "specs", Short: "Families of filters, their parameters, and the choice of one", Text: specsText},
	{Name: "rates", Short: "False-positive rates and sizes", Text: constant(ratesText)},
	{Name: "inputs", Short: "Formats of keys, bad rows, standard input and output", Text: inputsText},
	{Name: "updates", Short: "Lists that change: small deltas, lost keys, allowed keys", Text: constant(updatesText)},
	{Name: "values", Short: "Values and counts of keys", Text: constant(valuesText),
		Words: []string{"maplet", "bloomier", "key-value", "static-function"}},
	{Name: "sharded", Short: "Sharded sets, for lists that exceed the memory", Text: constant(shardedText)},
	{Name: "exit-codes", Short: "Exit codes, errors and JSON", Text: constant(exitCodesText)},
}

func constant(text string) func() string { return func() string { return text } }

const specsHead = `A spec names a family and its parameters: ribbon, "blocked(fpr=0.001)". Shells need the quotes. Go,
Python and JavaScript use the same specs.

Without --spec, build makes a ribbon filter, to which no key can be added, or with --needs, --capacity (add), --counting
and --value-bits (remove) the first family here that meets all needs:

`

// needsTable returns a table with a row for each word of --needs.
func needsTable() string {
	with := func(can family.Ability) string { return ": " + strings.Join(families.With(can), ", ") }
	return cli.Table([][2]string{
		{"add", "keys are added later: standard, all but ribbon and fuse"},
		{"remove", "keys are removed" + with(family.CanRemove)},
		{"count", "keys are counted" + with(family.CanCount)},
		{"merge", "filters are merged" + with(family.CanMerge)},
		{"line", "a query reads one cache line: blocked"},
		{"writers", "many goroutines add keys"},
		{"adversarial", "an attacker may choose the keys; needs --secret-file"},
		{"unpatented", "plan leaves out filters with a known patent"},
	}, 14)
}

const specsTail = `
build prints its choice, never a filter with a known patent. --for chooses the first row of plan, which may change with the
number of keys. Below a rate of 2^-32 and above 33 bits per key, another family replaces ribbon.

A spec has one size: fpr=RATE, bits_per_key=B, bytes=N, or a size of its family. The default is fpr=0.01, or the size in
parentheses:

`

const specsEnd = `
All parameters are described in
https://github.com/bloomery/bloomery/blob/main/docs/reference/specs.md

convert reads and writes the families of other systems: `

// specsText returns the topic specs: the needs, and a list of families with their parameters.
func specsText() string {
	var list [][2]string
	var foreign []string
	for _, f := range families.All() {
		if f.Foreign() {
			foreign = append(foreign, f.Name)
			continue
		}
		text := f.Summary
		if f.DefaultFPR == 0 {
			text += " (" + f.Default + ")"
		}
		text += "."
		for _, p := range f.Parameters {
			text += " " + p.Name + "=" + p.Value
		}
		list = append(list, [2]string{f.Name, text})
	}
	return specsHead + needsTable() + specsTail + cli.Table(list, 18) + specsEnd + strings.Join(foreign, ", ") + "."
}

const ratesText = `The false-positive rate is the share of absent keys that a filter reports as present. --fpr makes the
smallest filter with this rate, 1% by default; --bits-per-key and --bytes choose a size. 1% needs 7 to 10 bits per key,
a tenth of a rate 3.3 to 4.8 more.

A file stores its planned rate: --fpr, or the forecast for --bits-per-key. Later keys raise the rate. If it is more than
a tenth above the plan, commands warn, and --json has fpr_exceeded; with --max-fpr they fail instead, and write nothing.

--capacity N makes room for later keys. A rankindexed filter with more keys becomes full: add fails and changes nothing,
unless growth= in the spec lets it double. In some families duplicate keys take room each time.
With --max-keys N, blocked and standard filters are filled from a pipe at the size for N keys, and then folded.

Searched families (partitioned, blockpartitioned, twochoice) become smaller with longer searches: --effort, --budget.

--seed and --secret-file choose the hash function. With a secret, nobody can construct colliding keys.`

const inputsHead = `An INPUT is a file with keys; without one, a command reads standard input. gzip, zstd and bzip2 are
recognised by content. Formats:

  lines   a key per line, up to LF or CRLF
  fields  a key per row, in --column, between runs of blanks or --delimiter
  csv     the same with a comma or --delimiter; fields may be quoted
  tsv     the same with tabs, and no quotes
  jsonl   a JSON object per line, its key in the member --column
  null    keys that end in NUL bytes, as find -print0 prints them
  hex     hexadecimal digits per line, such as SHA-1 sums

Keys are bytes, compared byte for byte. --trim cuts blanks off keys, also of -e; --lower reads A to Z as a to z. Both
know ASCII only. A filter remembers them, and all commands prepare its keys so; states of dedup and exact sets do not.

--comments '#' leaves out lines that begin with #, after any blanks except in csv, and in lines, fields, null and hex
the rest of a line behind a blank and #. Hosts files, HIBP's lists of SHA1:COUNT, and domains of e-mails:

  bloomery build -o ads --input-format fields --column 2 --comments '#' hosts
  bloomery build -o pwned --input-format fields --delimiter : --lower hibp
  bloomery check FILE --input-format fields --delimiter @ --column 2 emails

build prints a note if 1% of the keys seem to need such a flag.

Other CRs belong to their keys. A UTF-8 byte-order mark at the start is dropped. In hex, an integer has 16 digits,
little endian, and a value and its tab are digits too.

The column of jsonl is a path: user.id, or log\.level for a name with a dot. Keys are strings without quotes, numbers as
written, and each value of an array. Lines without a key, or with null, are left out and counted, as without_key in
--count --json.

check, exact check and dedup print whole rows of fields, csv, tsv and jsonl, behind the header row, which all inputs
must share, and with --comments, --trim or --lower whole lines. Rows with an empty key are left out,
except by dedup or with --keep-empty.

Files may be read twice; a change in between is an error, so pipe inputs that grow. Hashes of keys, 16 bytes
each, that exceed --memory go to a temporary file.

"-" is standard input or output, unless a file or folder is required; "./-" is a file of that name. An input must
not be standard output, too.

A row is bad if it has a NUL byte, too few columns, wrong quotes, digits, JSON or time, or a key above --max-key-bytes.
It ends a command with exit code 2, after the answers for the rows before it; build and others then write nothing.
--bad-rows skip leaves bad rows out, with a warning, and bad_rows in --count --json. Without --bad-rows, check, count,
get and dedup accept NUL bytes in keys of lines, fields and tsv, since truncated logs have them. UTF-16, damaged
compressed data, a NUL byte in a header row and quotes without an end always stop.

The flags:

`

// inputsText returns the topic inputs, with the flags that commands name only.
func inputsText() string {
	var in inputFlags
	c := &cobra.Command{}
	in.register(c)
	in.badRows(c, keyio.Stop)
	(&valueFlags{}).register(c)
	return inputsHead + cli.FlagTable(c.Flags())
}

const updatesText = `publish, or diff and patch, bring copies of a filter up to date with small deltas, if the new
filter has the size, seed and search of the old one: change a copy with add, remove or put, or build --like OLD. Deltas
of ribbon and fuse are the whole filter.

--like copies size, hash function, planned rate and form (see trim) of OLD, and searches nothing. The rate rises as the
list grows and changes, so make room in the first build: --capacity, or --spec "partitioned(fpr=0.01,later=8000)".

A list that was cut must not replace a good filter: --like, optimize and publish refuse to lose more than half of the
keys, exact update 10% of the members or any key of the universe. --shrink=P% allows a loss of P%, --shrink any.

build --allow LIST makes a filter that finds no key of LIST, such as popular domains beside a blocklist. Each false
positive in LIST costs about 1.44 log2(keys / exceptions) + 4.4 bits, and all together 80 to 300 bytes more. Keys cannot
change later. A key in both lists is an error.`

const valuesText = `build --value-bits V stores a number of V bits with each key. A line of the input is a key, a tab
and the number, such as "10.0.0.1<TAB>3"; inputs with columns have --value-column. A key
may repeat only with the same value.

  rankindexed   put changes values; without one a key has 0; keys that look
                alike, at the false-positive rate, share a value
  ribbon        values are always right and never change; each key needs one

"ribbon(r=0)" stores values only: every key seems present, and absent keys have any value. Others call these filters
maplet (rankindexed), Bloomier or key-value filter (ribbon), and static function (r=0).

add and verify read lines as build does. check, count and get read whole lines as keys; --input-format tsv leaves the
value out.

--counting (rankindexed) and the family counting store how often each key was added. count prints this number less the
removals. It may be too large, at the false-positive rate, but never too small; a full counter prints >=15.`

const shardedText = `build --shards N -o DIR writes a sharded set: a folder with N filters and manifest.json. --shards
auto makes one per 4 million keys. bloomery shard divides the build among machines.

DIR takes the place of FILE in all commands; convert needs one of its files. Sizes and rates are for the whole set. A
file of the set cannot be changed alone; commands that change keys write only the shards of these keys.

Inputs are read once, except with auto or without --spec. Up to half of --memory, by default 1GiB, is for hashes of
keys. An old set is replaced when the new one is complete. info verifies sizes and headers, verify the contents.`

const exitCodesText = `  0          done; check, count, get: a key matched
  1          check, exact check, count, get: no key matched
             clubcard check: any answer but "not revoked"
             remove: a key was absent
             verify: a member is missing, or the rate is not kept
             exact verify: an answer is wrong
             plan: the needs are impossible
             publish --check, follow --once: the release has expired
             shard status: finish cannot run yet
  2          an error
  130, 143   SIGINT, SIGTERM: no half-written file is left
  141        the reader of the output ended: "bloomery check F | head -1"

--json prints reports as JSON. check, count, get and dedup print an object per key, such as
{"key":"yopmail.com","present":true}, with "row" if rows are printed, "count" and "saturated", or "value". Bytes that
are not UTF-8 become U+FFFD. An error is a line on standard error: {"error":"...","hint":"..."}.

-q hides progress, notes and summaries, but no answers: send those to /dev/null. Errors of standard output are
errors, of standard error not.

Commands replace files by rename, all or nothing. If another program overwrites a filter in place, answers may be wrong;
commands detect this and exit with 2.`
