/* What the test programs share: expectations that say where they fail, and a look at all that an instance shows. */
#ifndef CHECK_H
#define CHECK_H

#include <biela.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VARIABLES 64

static int failures = 0;

/* A condition. */
#define EXPECT(condition) \
    ((condition) ? (void)0 : (void)(failures++, fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition)))

/* A call that must succeed, or nothing after it makes sense. */
#define MUST(instance, call) must(__LINE__, #call, (instance), (call))

static inline void must(int line, const char *text, biela_instance *instance, biela_status status)
{
    if (status != BIELA_STATUS_OK) {
        fprintf(stderr, "line %d: %s: %s: %s\n", line, text, biela_status_name(status), biela_last_error(instance));
        exit(1);
    }
}

/* A call that must fail with this status and a sentence that contains this word. The sentence is the instance's, or with
 * NULL the thread's. */
#define REFUSED(instance, call, status, word) refused(__LINE__, #call, (instance), (call), (status), (word))

static inline void refused(int line, const char *text, biela_instance *instance, biela_status status,
                           biela_status expected, const char *word)
{
    const char *sentence = biela_last_error(instance);
    if (status != expected) {
        failures++;
        fprintf(stderr, "line %d: %s: expected %s, got %s: %s\n", line, text, biela_status_name(expected),
                biela_status_name(status), sentence);
    } else if (sentence[0] == '\0' || !strstr(sentence, word)) {
        failures++;
        fprintf(stderr, "line %d: %s: the sentence \"%s\" does not name \"%s\"\n", line, text, sentence, word);
    }
}

/* All that an instance shows of itself. */
typedef struct {
    uint32_t count;
    double values[MOST_VARIABLES];
    double time;
    biela_counters counters;
} snapshot;

static inline snapshot look(biela_instance *instance)
{
    snapshot seen;
    memset(&seen, 0, sizeof seen);
    uint32_t references[MOST_VARIABLES];
    MUST(instance, biela_variable_count(instance, &seen.count));
    if (seen.count > MOST_VARIABLES) {
        fprintf(stderr, "%u variables are too many for this test\n", (unsigned)seen.count);
        exit(2);
    }
    for (uint32_t i = 0; i < seen.count; i++) {
        references[i] = i;
    }
    MUST(instance, biela_get_real(instance, references, seen.count, seen.values));
    MUST(instance, biela_time(instance, &seen.time));
    MUST(NULL, biela_counters_default(&seen.counters, sizeof seen.counters));
    MUST(instance, biela_statistics(instance, &seen.counters));
    return seen;
}

/* Same bits everywhere; the struct was zeroed, so padding does not matter. */
static inline int same(const snapshot *a, const snapshot *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static inline int finish(void)
{
    if (failures) {
        fprintf(stderr, "%d expectations failed\n", failures);
        return 1;
    }
    printf("fine\n");
    return 0;
}

#endif
