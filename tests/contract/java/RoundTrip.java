// Apache Kafka's own Java client against a broker: java -cp 'libs/*' RoundTrip.java HOST:PORT
// Creates a topic, writes it with an idempotent producer, reads it in a group and commits, goes on where it committed.
// Prints "ok" and exits with 0, or throws.

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class RoundTrip {
    static final String RUN = UUID.randomUUID().toString();
    // A call that gets no answer throws and names itself, before the test ends the whole program.
    static final int LIMIT_MS = 30_000;

    public static void main(String[] args) throws Exception {
        Map<String, Object> to = Map.of("bootstrap.servers", args[0], "default.api.timeout.ms", LIMIT_MS);
        String topic = "java-" + RUN;
        try (Admin admin = Admin.create(to)) {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
        }
        TopicPartition partition = new TopicPartition(topic, 0);
        try (KafkaProducer<String, String> plain = producer(args[0])) {
            for (int i = 0; i < 100; i++) plain.send(new ProducerRecord<>(topic, "k", "plain-" + i)).get();
            try (KafkaConsumer<String, String> group = consumer(args[0])) {
                group.subscribe(List.of(topic));
                check(read(group, 100).get(99).equals("plain-99"), "plain records in order");
                group.commitSync();
                check(group.committed(Set.of(partition)).get(partition).offset() == 100, "offsets committed");
            }
            plain.send(new ProducerRecord<>(topic, "k", "next")).get();
        }
        try (KafkaConsumer<String, String> group = consumer(args[0])) {
            group.subscribe(List.of(topic));
            check(read(group, 1).equals(List.of("next")), "goes on where it committed");
        }
        System.out.println("ok");
    }

    static KafkaProducer<String, String> producer(String bootstrap) {
        return new KafkaProducer<>(Map.of(
            "bootstrap.servers", bootstrap, "enable.idempotence", true, "compression.type", "gzip",
            "max.block.ms", LIMIT_MS,
            "key.serializer", StringSerializer.class, "value.serializer", StringSerializer.class));
    }

    static KafkaConsumer<String, String> consumer(String bootstrap) {
        return new KafkaConsumer<>(Map.of(
            "bootstrap.servers", bootstrap, "group.id", "java-" + RUN, "group.instance.id", "one",
            "auto.offset.reset", "earliest", "enable.auto.commit", false, "isolation.level", "read_committed",
            "key.deserializer", StringDeserializer.class, "value.deserializer", StringDeserializer.class,
            "default.api.timeout.ms", LIMIT_MS));
    }

    static List<String> read(KafkaConsumer<String, String> consumer, int count) {
        List<String> values = new ArrayList<>();
        long deadline = System.nanoTime() + LIMIT_MS * 1_000_000L;
        while (values.size() < count && System.nanoTime() < deadline)
            for (ConsumerRecord<String, String> r : consumer.poll(Duration.ofMillis(200))) values.add(r.value());
        check(values.size() == count, "read " + values.size() + " records instead of " + count);
        return values;
    }

    static void check(boolean holds, String claim) {
        if (!holds) throw new AssertionError(claim);
    }
}
